"""A simulated browser tab for load tests: the websocket protocol of Streamlit, and a user who moves controls.

It performs the handshake, caches messages that the server may refer to later, tracks widgets, their values and the
address, and reruns fragments on their timers; it draws nothing. A control that a live figure replaces by its own slider
is moved as well: the server's work is the same.
"""

from __future__ import annotations

import asyncio
import json
import random
import time
import urllib.request
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass
from http.cookiejar import CookieJar
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ButtonGroup_pb2 import ButtonGroup
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.proto.Slider_pb2 import Slider
from streamlit.proto.WidgetStates_pb2 import WidgetState
from websockets.asyncio.client import connect
from websockets.exceptions import WebSocketException

from pages.shared.catalogue import PAGES

#: Seconds after which a reply counts as lost.
LONGEST = 120
#: Live views that ask for more data when the reader points at the slider of a control, by page and control.
_REACHED = {(page.name, key): f"live_{page.view}" for page in PAGES for key in page.requests_at}
#: Widget id of the events of a component of the app's own; the component's id goes into it.
_EVENTS = "$$STREAMLIT_INTERNAL_KEY_{}__events"
_INTERNAL = "internal error"  # in the app's message; any other error message refuses a request


class LostError(Exception):
    """The server has closed the socket or does not reply."""


@dataclass(frozen=True)
class Widget:
    """A control as a message describes it; its values go into its field of `WidgetState`."""

    id: str
    name: str
    field: str
    default: object
    allowed: tuple = ()
    """The values that a user can choose; with `several`, any subset"""
    several: bool = False
    parameter: str = ""
    """Its name in the address, if it has one"""
    server_value: object = None
    """The value that the server sets, if any"""

    def another(self, value, choices: random.Random):
        """Draw a value other than this one; return None if there is none."""
        if self.several:
            kept = [name for name in self.allowed if name in value]
            changes = [name for name in self.allowed if kept != [name]]
            if not changes:
                return None
            change = choices.choice(changes)
            return tuple(name for name in self.allowed if (name in kept) != (name == change))
        others = [one for one in self.allowed if one != value]
        return choices.choice(others) if others else None

    def state(self, value) -> WidgetState:
        """Return the message that sends a value."""
        if isinstance(value, tuple):
            state = WidgetState(id=self.id)
            getattr(state, self.field).data.extend(value)
            return state
        return WidgetState(id=self.id, **{self.field: value})


def widget(element) -> Widget | None:
    """Return the control of an `Element`, or None if a user cannot change it."""
    kind = element.WhichOneof("type")
    proto = getattr(element, kind)
    several = kind == "multiselect" or (kind == "button_group" and proto.click_mode == ButtonGroup.MULTI_SELECT)
    read = _read(kind, proto, several)
    if read is None or proto.disabled or proto.form_id:
        return None
    field, default, allowed, source = read
    given = getattr(proto, source) if proto.set_value else None
    name = proto.id.split("-", 2)[-1]  # the app's key follows a prefix and a hash
    return Widget(
        id=proto.id,
        name=proto.label if name == "None" else name,
        field=field,
        default=default,
        allowed=allowed,
        several=several,
        parameter=proto.query_param_key,
        server_value=given if given is None or isinstance(given, bool | int | float | str) else tuple(given),
    )


def _read(kind: str, proto, several: bool) -> tuple[str, Any, tuple, str] | None:
    """Return a control's field of the state, default, allowed values, and the field of a value that is set."""
    match kind:
        case "slider" if len(proto.default) == 1 and proto.type == Slider.SELECT_SLIDER:
            allowed = tuple((one,) for one in proto.options)
            return "string_array_value", allowed[int(proto.default[0])], allowed, "raw_value"
        case "slider" if len(proto.default) == 1:
            return "double_array_value", tuple(proto.default), tuple((step,) for step in _steps(proto)), "value"
        case "number_input" if proto.has_min and proto.has_max:
            return "double_value", proto.default, _steps(proto), "value"
        case "selectbox" | "radio" if proto.HasField("default"):
            return "string_value", proto.options[proto.default], tuple(proto.options), "raw_value"
        case "button_group" | "multiselect":
            options = proto.options if kind == "multiselect" else [option.content for option in proto.options]
            allowed = tuple(options) if several else tuple((option,) for option in options)
            return "string_array_value", tuple(options[i] for i in proto.default), allowed, "raw_values"
        case "checkbox":
            return "bool_value", proto.default, (False, True), "value"
        case "text_area" | "text_input":
            return "string_value", proto.default, (), "value"
    return None


def _steps(proto) -> tuple[float, ...]:
    count = min(int((proto.max - proto.min) / proto.step + 1e-9) + 1, 1000)  # a table may have millions of lines
    return tuple(round(proto.min + i * proto.step, 9) for i in range(count))


class Tab:
    """A browser tab on one page, given by its path and query. `choices` draws controls and values."""

    def __init__(self, server: str, page: str, choices: random.Random):
        parts = urlsplit(page)
        self._server, self._page, self.choices = server, parts.path, choices
        self._query = parse_qs(parts.query)
        self._elements: dict[tuple[int, ...], tuple] = {}  # element, fragment and run by path
        self.values: dict[str, object] = {}  # by widget id
        self._kept: dict[str, tuple[int, ForwardMsg]] = {}  # run of last use and message by hash
        self._n_runs, self._oldest = 0, 2
        self._run, self._fragments, self._script = "", (), ""
        self._clocks: dict[str, tuple[float, asyncio.Task]] = {}
        self._begun, self._finished = False, None
        self._socket = self._reader = None
        self.faults: list[str] = []  # exceptions shown, internal errors of runs, invalid messages
        self.refusals: Counter[str] = Counter()  # messages that refuse a request, as intended

    async def __aenter__(self) -> Tab:
        """Load the page and wait until its script has run."""
        cookies = await asyncio.to_thread(self._shake_hands)
        try:
            self._socket = await connect(
                self._server.replace("http", "ws", 1) + "/_stcore/stream",
                origin=self._server,
                subprotocols=["streamlit", cookies["_streamlit_xsrf"]],
                additional_headers={"Cookie": "; ".join(f"{name}={value}" for name, value in cookies.items())},
                max_size=None,
                ping_interval=None,  # browsers answer pings and send none
                open_timeout=LONGEST,
            )
        except (OSError, WebSocketException, TimeoutError) as error:
            raise LostError(f"no socket: {error!r}") from error
        self._reader = asyncio.create_task(self._read())
        try:
            await self._ask()
        except BaseException:
            await self.__aexit__()
            raise
        return self

    async def __aexit__(self, *_) -> None:
        """Close the socket, as a browser does."""
        self._stop_clocks(tuple(self._clocks))
        with suppress(asyncio.TimeoutError):
            await asyncio.wait_for(self._socket.close(), 10)
        self._reader.cancel()
        with suppress(asyncio.CancelledError):
            await self._reader

    def _shake_hands(self) -> dict[str, str]:
        """Send the requests that precede the websocket; return the cookies: a token, and with nginx the process."""
        kept = CookieJar()
        opener = urllib.request.build_opener(urllib.request.HTTPCookieProcessor(kept))
        try:
            for path in (self._page, "_stcore/health", "_stcore/host-config"):
                with opener.open(f"{self._server}/{path}", timeout=LONGEST) as answer:
                    answer.read()
        except OSError as error:
            raise LostError(f"no reply: {error!r}") from error
        return {cookie.name: cookie.value or "" for cookie in kept}

    @property
    def address(self) -> str:
        """Path and query of the page's link, as it is now."""
        return f"{self._page}?{urlencode(self._query, doseq=True)}"

    @property
    def widgets(self) -> list[Widget]:
        """The controls on the page."""
        widgets = (widget(element) for element, _, _ in self._elements.values())
        return [one for one in widgets if one is not None]

    @property
    def settings(self) -> dict[str, object]:
        """The values of the controls on the page by their names in the address."""
        return {one.parameter: self.values[one.id] for one in self.widgets if one.parameter}

    async def move(self) -> tuple[str, float] | None:
        """Give a random control another value; return its name and the seconds of the rerun, None without a control."""
        movable = [(one, one.another(self.values[one.id], self.choices)) for one in self.widgets]
        movable = [(one, value) for one, value in movable if value is not None]
        if not movable:
            return None
        chosen, value = self.choices.choice(movable)
        view = _REACHED.get((self._page, chosen.parameter))
        asked = await self.act(view, "reached", chosen.parameter) if view and self.component(view) else 0.0
        return chosen.name, asked + await self.set(chosen, value)

    async def set(self, chosen: Widget, value) -> float:
        """Give a control a value and wait; return the seconds of the rerun."""
        self.values[chosen.id] = value
        if chosen.parameter:
            if value == chosen.default:
                self._query.pop(chosen.parameter, None)
            else:
                several = value if isinstance(value, tuple) else (value,)
                self._query[chosen.parameter] = [as_text(one) for one in several]
        return await self._ask()

    async def press(self, label: str) -> float:
        """Press a button and wait; return the seconds of the rerun."""
        for element, _, _ in self._elements.values():
            if element.WhichOneof("type") == "button" and element.button.label == label:
                return await self._ask(WidgetState(id=element.button.id, trigger_value=True))
        raise LookupError(f"{self._page} shows no button {label!r}")

    def component(self, name: str) -> tuple[str, dict] | None:
        """Return id and data of a component of the app's own; None if the page does not show it."""
        for element, _, _ in self._elements.values():
            if element.WhichOneof("type") == "bidi_component" and element.bidi_component.component_name == name:
                return element.bidi_component.id, json.loads(element.bidi_component.json)
        return None

    async def act(self, name: str, event: str, value) -> float:
        """Send an event of a component and wait; return the seconds of the rerun."""
        component = self.component(name)
        assert component is not None, f"{self._page} shows no component {name!r}"
        sent = json.dumps([{"event": event, "value": value}])
        return await self._ask(WidgetState(id=_EVENTS.format(component[0]), json_trigger_value=sent))

    async def _ask(self, trigger: WidgetState | None = None) -> float:
        """Rerun the whole script and wait; return the seconds."""
        self._begun, self._finished = False, asyncio.get_running_loop().create_future()
        asked = time.perf_counter()
        await self._send(self._request(trigger=trigger))
        try:
            late = await asyncio.wait_for(self._finished, LONGEST) - asked
        except TimeoutError as error:
            raise LostError(f"no reply within {LONGEST} s") from error
        return late

    def _request(self, fragment: str = "", trigger: WidgetState | None = None) -> BackMsg:
        message = BackMsg()
        rerun = message.rerun_script
        rerun.query_string = urlencode(self._query, doseq=True)
        rerun.page_script_hash, rerun.page_name = self._script, "" if self._script else self._page
        rerun.fragment_id, rerun.is_auto_rerun = fragment, bool(fragment)
        rerun.cached_message_hashes.extend(self._kept)
        for one in self.widgets:
            rerun.widget_states.widgets.append(one.state(self.values[one.id]))
        if trigger is not None:
            rerun.widget_states.widgets.append(trigger)
        context = rerun.context_info
        context.timezone, context.locale, context.color_scheme = "UTC", "en-US", "light"
        context.url = f"{self._server}/{self._page}"
        return message

    async def _send(self, message: BackMsg) -> None:
        try:
            await self._socket.send(message.SerializeToString())
        except WebSocketException as error:
            raise LostError(f"the socket is closed: {error!r}") from error

    async def _read(self) -> None:
        """Process messages until the socket closes."""
        lost = "closed by the server"
        try:
            async for payload in self._socket:
                self.take(ForwardMsg.FromString(payload))
        except WebSocketException as error:
            lost = repr(error)
        except Exception as error:  # a fault of this tab; `_ask` raises it
            lost = f"a message that this tab cannot read: {error!r}"
        if self._finished is not None and not self._finished.done():
            self._finished.set_exception(LostError(lost))

    def take(self, message: ForwardMsg) -> None:
        """Process a message as a browser does."""
        metadata = message.metadata
        referred = message.WhichOneof("type") == "ref_hash"
        if referred and message.ref_hash not in self._kept:
            self.faults.append("the server referred to a message that is not cached")
            return
        if referred:
            message = self._kept[message.ref_hash][1]
        if referred or metadata.cacheable:
            self._kept[message.hash] = self._n_runs, message
        kind = message.WhichOneof("type")
        if kind == "new_session":
            self._begin(message.new_session, metadata.run)
        elif kind == "delta":
            self._show(tuple(metadata.delta_path), message.delta)
        elif kind == "script_finished":
            self._finish(message.script_finished)
        elif kind == "navigation":
            self._script = message.navigation.page_script_hash
        elif kind == "page_info_changed":
            self._query = parse_qs(message.page_info_changed.query_string)
        elif kind == "page_not_found":
            self.faults.append(f"{self._page} was not found")
        elif kind == "auto_rerun":
            self._start_clock(message.auto_rerun.fragment_id, message.auto_rerun.interval)
        elif kind == "stop_auto_rerun":
            self._stop_clocks(tuple(message.stop_auto_rerun.fragment_ids))

    def _begin(self, session, run) -> None:
        self._run, self._fragments = run.script_run_id, tuple(run.fragment_ids)
        if not self._fragments:
            self._begun = True
            self._oldest = session.config.max_cached_message_age
            self._stop_clocks(tuple(self._clocks))

    def _show(self, path: tuple[int, ...], delta) -> None:
        if delta.WhichOneof("type") != "new_element":
            self._elements.pop(path, None)
            return
        element = delta.new_element
        self._elements[path] = element, delta.fragment_id, self._run
        kind = element.WhichOneof("type")
        if kind == "exception":
            self.faults.append(f"{element.exception.type}: {element.exception.message}")
        elif kind == "alert" and element.alert.format == element.alert.ERROR:
            if _INTERNAL in element.alert.body.lower():
                self.faults.append(element.alert.body)
            else:
                self.refusals[element.alert.body] += 1
        if (shown := widget(element)) is not None:
            if shown.server_value is not None:
                self.values[shown.id] = shown.server_value
            self.values.setdefault(shown.id, shown.default)

    def _finish(self, status) -> None:
        if status == ForwardMsg.FINISHED_WITH_COMPILE_ERROR:
            self.faults.append("the script does not compile")
        if status == ForwardMsg.FINISHED_EARLY_FOR_RERUN:  # another run comes
            return
        # Elements that this run could have sent and did not are stale, and so are the values of their widgets.
        ran = set(self._fragments)
        self._elements = {
            path: (element, fragment, run)
            for path, (element, fragment, run) in self._elements.items()
            if run == self._run or (ran and fragment not in ran)
        }
        there = {one.id for one in self.widgets}
        self.values = {name: value for name, value in self.values.items() if name in there}
        self._n_runs += 1
        if not ran:
            oldest = self._n_runs - self._oldest
            self._kept = {name: kept for name, kept in self._kept.items() if kept[0] >= oldest}
        # A control may end the whole run for one of fragments.
        if self._begun and self._finished is not None and not self._finished.done():
            self._finished.set_result(time.perf_counter())

    def _start_clock(self, fragment: str, interval: float) -> None:
        if fragment in self._clocks and self._clocks[fragment][0] == interval:
            return
        self._stop_clocks((fragment,))
        self._clocks[fragment] = interval, asyncio.create_task(self._poll(fragment, interval))

    def _stop_clocks(self, fragments: tuple[str, ...]) -> None:
        for fragment in fragments:
            if fragment in self._clocks:
                self._clocks.pop(fragment)[1].cancel()

    async def _poll(self, fragment: str, interval: float) -> None:
        with suppress(LostError):  # the reader reports it
            while True:
                await asyncio.sleep(interval)
                await self._send(self._request(fragment))


def as_text(value) -> str:
    """Write a value of a control as the address does."""
    if isinstance(value, bool):
        return str(value).lower()
    return value if isinstance(value, str) else f"{value:.10g}"
