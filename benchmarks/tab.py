"""A tab of a browser as Streamlit's server sees it: its websocket, its protocol, and a hand that moves controls.

It shakes hands, keeps messages that the server may refer to later, tells widgets and their values out of what it is
shown, keeps the address up, and polls a fragment that asks for it; it draws nothing. A control that a live picture
hides behind a slider of its own is moved as if it were there: the server's work is the same.
"""

from __future__ import annotations

import asyncio
import random
import time
import urllib.request
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass
from http.cookies import SimpleCookie
from urllib.parse import parse_qs, urlencode, urlsplit

from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ButtonGroup_pb2 import ButtonGroup
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.proto.Slider_pb2 import Slider
from streamlit.proto.WidgetStates_pb2 import WidgetState
from websockets.asyncio.client import connect
from websockets.exceptions import WebSocketException

#: Seconds after which an answer counts as lost.
LONGEST = 120
_OURS = "error of ours"  # how the app words a fault; any other red sentence refuses what was asked for


class LostError(Exception):
    """The server has closed the socket, or does not answer."""


@dataclass(frozen=True)
class Widget:
    """A control as a message describes it. Its values are those of the field of `WidgetState` that it goes by."""

    id: str
    name: str
    field: str
    default: object
    allowed: tuple = ()
    """The values that a hand can give it; with `several`, those that it can take together"""
    several: bool = False
    parameter: str = ""
    """Its name in the address, if it has one"""
    dictated: object = None
    """The value that the server wants it to take, if it does"""

    def another(self, value, choices: random.Random):
        """A value other than this one, or None if there is none."""
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
        """The value as it is sent."""
        if isinstance(value, tuple):
            state = WidgetState(id=self.id)
            getattr(state, self.field).data.extend(value)
            return state
        return WidgetState(id=self.id, **{self.field: value})


def widget(element) -> Widget | None:
    """The control that an `Element` is, if it is one that a hand can move or write in."""
    kind = element.WhichOneof("type")
    told = getattr(element, kind)
    if kind not in _READERS or told.disabled or told.form_id:
        return None
    name = told.id.split("-", 2)[-1]  # after a mark and a hash comes the key that the app gave it
    about = {"id": told.id, "name": told.label if name == "None" else name}
    return _READERS[kind](told, about | {"parameter": told.query_param_key})


def _slider(told, about) -> Widget | None:
    if len(told.default) != 1:  # one with two ends
        return None
    if told.type == Slider.SELECT_SLIDER:
        allowed = tuple((option,) for option in told.options)
        dictated = tuple(told.raw_value) if told.set_value else None
        default = allowed[int(told.default[0])]
        return Widget(field="string_array_value", default=default, allowed=allowed, dictated=dictated, **about)
    dictated = tuple(told.value) if told.set_value else None
    return Widget(
        field="double_array_value", default=tuple(told.default), allowed=_steps(told), dictated=dictated, **about
    )


def _steps(told) -> tuple:
    count = int((told.max - told.min) / told.step + 1e-9) + 1
    return tuple((round(told.min + i * told.step, 9),) for i in range(count))


def _number_input(told, about) -> Widget | None:
    if not (told.has_min and told.has_max):
        return None
    allowed = tuple(value for (value,) in _steps(told))
    dictated = told.value if told.set_value else None
    return Widget(field="double_value", default=told.default, allowed=allowed, dictated=dictated, **about)


def _one_of(told, about) -> Widget | None:
    if not told.HasField("default"):
        return None
    options = tuple(told.options)
    dictated = told.raw_value if told.set_value else None
    return Widget(field="string_value", default=options[told.default], allowed=options, dictated=dictated, **about)


def _button_group(told, about) -> Widget:
    options = tuple(option.content for option in told.options)
    several = told.click_mode == ButtonGroup.MULTI_SELECT
    return Widget(
        field="string_array_value",
        default=tuple(options[i] for i in told.default),
        allowed=options if several else tuple((option,) for option in options),
        several=several,
        dictated=tuple(told.raw_values) if told.set_value else None,
        **about,
    )


def _multiselect(told, about) -> Widget:
    options = tuple(told.options)
    return Widget(
        field="string_array_value",
        default=tuple(options[i] for i in told.default),
        allowed=options,
        several=True,
        dictated=tuple(told.raw_values) if told.set_value else None,
        **about,
    )


def _checkbox(told, about) -> Widget:
    dictated = told.value if told.set_value else None
    return Widget(field="bool_value", default=told.default, allowed=(False, True), dictated=dictated, **about)


def _text(told, about) -> Widget:
    return Widget(field="string_value", default=told.default, dictated=told.value if told.set_value else None, **about)


_READERS = {
    "slider": _slider,
    "number_input": _number_input,
    "selectbox": _one_of,
    "radio": _one_of,
    "button_group": _button_group,
    "multiselect": _multiselect,
    "checkbox": _checkbox,
    "text_area": _text,
    "text_input": _text,
}


class Tab:
    """One tab on one page.

    Parameters
    ----------
    server : str
        Its address, with no slash at the end.
    page : str
        The page's address below it, query included.
    choices : random.Random
        By which the hand chooses controls and values.

    Attributes
    ----------
    faults : list of str
        Whatever should not have happened: exceptions shown, runs that ended in an error, messages that make no sense.
    refusals : Counter
        Red sentences that refuse what was asked for, as the app means to.
    polls : int
        Runs of fragments that were asked for by the clock.
    """

    def __init__(self, server: str, page: str, choices: random.Random):
        parts = urlsplit(page)
        self._server, self._page, self.choices = server, parts.path, choices
        self._query = parse_qs(parts.query)
        self._elements: dict[tuple[int, ...], tuple] = {}  # with the fragment and the run that brought it
        self.values: dict[str, object] = {}  # of widgets, by their ids
        self._kept: dict[str, tuple[int, ForwardMsg]] = {}  # messages by hash, with the run that last used them
        self._n_runs, self._oldest = 0, 2
        self._run, self._fragments, self._script = "", (), ""
        self._clocks: dict[str, tuple[float, asyncio.Task]] = {}
        self._begun, self._finished = False, None
        self._socket = self._reader = None
        self.faults: list[str] = []
        self.refusals: Counter[str] = Counter()
        self.polls = 0

    async def __aenter__(self) -> Tab:
        """Load the page and wait until it stands."""
        cookie = await asyncio.to_thread(self._shake_hands)
        try:
            self._socket = await connect(
                self._server.replace("http", "ws", 1) + "/_stcore/stream",
                origin=self._server,
                subprotocols=["streamlit", cookie],
                additional_headers={"Cookie": f"_streamlit_xsrf={cookie}"},
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
        """Close the socket, as a tab does that is closed."""
        self._stop_clocks(tuple(self._clocks))
        with suppress(asyncio.TimeoutError):
            await asyncio.wait_for(self._socket.close(), 10)
        self._reader.cancel()
        with suppress(asyncio.CancelledError):
            await self._reader

    def _shake_hands(self) -> str:
        """What is asked for before the socket; returns the token against cross-site requests."""
        cookies = SimpleCookie()
        try:
            for path in (self._page, "_stcore/health", "_stcore/host-config"):
                with urllib.request.urlopen(f"{self._server}/{path}", timeout=LONGEST) as answer:
                    answer.read()
                    for cookie in answer.headers.get_all("Set-Cookie", ()):
                        cookies.load(cookie)
        except OSError as error:
            raise LostError(f"no answer: {error!r}") from error
        return cookies["_streamlit_xsrf"].value

    @property
    def widgets(self) -> list[Widget]:
        """Those that are shown."""
        found = (widget(element) for element, _, _ in self._elements.values())
        return [one for one in found if one is not None]

    async def move(self) -> tuple[str, float] | None:
        """Give a control another value; its name, and the seconds until the script had run. None if there is none."""
        movable = [(one, one.another(self.values[one.id], self.choices)) for one in self.widgets]
        movable = [(one, value) for one, value in movable if value is not None]
        if not movable:
            return None
        chosen, value = self.choices.choice(movable)
        return chosen.name, await self.set(chosen, value)

    async def set(self, chosen: Widget, value) -> float:
        """Give a control a value, and wait; returns seconds."""
        self.values[chosen.id] = value
        if chosen.parameter:
            if value == chosen.default:
                self._query.pop(chosen.parameter, None)
            else:
                several = value if isinstance(value, tuple) else (value,)
                self._query[chosen.parameter] = [_as_text(one) for one in several]
        return await self._ask()

    async def press(self, label: str) -> float:
        """Press the button of this name, and wait; returns seconds."""
        for element, _, _ in self._elements.values():
            if element.WhichOneof("type") == "button" and element.button.label == label:
                return await self._ask(WidgetState(id=element.button.id, trigger_value=True))
        raise LookupError(f"{self._page} shows no button {label!r}")

    async def _ask(self, trigger: WidgetState | None = None) -> float:
        """Have the whole script run, and wait; returns the seconds that it took."""
        self._begun, self._finished = False, asyncio.get_running_loop().create_future()
        asked = time.perf_counter()
        await self._send(self._request(trigger=trigger))
        try:
            return await asyncio.wait_for(self._finished, LONGEST) - asked
        except TimeoutError as error:
            raise LostError(f"no answer within {LONGEST} s") from error

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
        """Take messages until the socket closes."""
        lost = "closed by the server"
        try:
            async for payload in self._socket:
                self.take(ForwardMsg.FromString(payload))
        except WebSocketException as error:
            lost = repr(error)
        except Exception as error:  # of ours: whoever waits is told
            lost = f"a message that this tab cannot read: {error!r}"
        if self._finished is not None and not self._finished.done():
            self._finished.set_exception(LostError(lost))

    def take(self, message: ForwardMsg) -> None:
        """What a browser does with a message."""
        if message.WhichOneof("type") == "ref_hash":
            if message.ref_hash not in self._kept:
                self.faults.append("the server referred to a message that is not kept")
                return
            metadata = message.metadata
            _, message = self._kept[message.ref_hash]
            self._kept[message.hash] = self._n_runs, message
        else:
            metadata = message.metadata
            if metadata.cacheable:
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
        elif kind == "session_event" and message.session_event.WhichOneof("type") == "script_compilation_exception":
            self.faults.append("the script does not compile")
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
            if _OURS in element.alert.body:
                self.faults.append(element.alert.body)
            else:
                self.refusals[element.alert.body] += 1
        if (shown := widget(element)) is not None:
            if shown.dictated is not None:
                self.values[shown.id] = shown.dictated
            self.values.setdefault(shown.id, shown.default)

    def _finish(self, status) -> None:
        if status == ForwardMsg.FINISHED_WITH_COMPILE_ERROR:
            self.faults.append("the script does not compile")
        if status == ForwardMsg.FINISHED_EARLY_FOR_RERUN:  # another run comes
            return
        # What this run might have brought and did not is stale, and so are the values of widgets that are gone.
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
        with suppress(LostError):  # the reader tells of it
            while True:
                await asyncio.sleep(interval)
                self.polls += 1
                await self._send(self._request(fragment))


def _as_text(value) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return value if isinstance(value, str) else f"{value:.10g}"
