"""Every page as it opens: axe-core finds nothing serious, no text overlaps, and keyboard and touch reach everything.

Findings in Streamlit's own elements are listed in `KNOWN`.
"""

from __future__ import annotations

from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path

import pytest
from conftest import PLACE_OF_POINT, inside, settle, show_all, wait_until
from test_layout import PHONE, WIDTHS as ALL_WIDTHS, at_each_width, problems, resize

from pages.shared import catalogue

ROOT = Path(__file__).parents[2]
PAGES = tuple(page.path for page in catalogue.PAGES if page.documentation)
WIDTHS = {"light": 1440, "dark": 768}


LIVE = "() => !document.querySelector('.live') || document.querySelector('.live').view?.ink !== undefined"


#: Findings of axe-core that stay, by their rule and place. In Streamlit's own parts, a list has names of groups between
#: its entries, and long equations scroll without tabindex; browsers let the keyboard scroll them.
KNOWN = (
    ("list*", "*stSidebarNavItems*"),
    ("scrollable-region-focusable", "*.katex-display*"),
)


def opened(open_page, path, **options):
    page = open_page(path, **options)
    at_rest(page)
    return page


def at_rest(page) -> None:
    """Wait until the live view is drawn and the run is over."""
    page.wait_for_function(LIVE)
    # At the end of a run the button disappears and the page is drawn again.
    page.get_by_role("button", name="Cancel").wait_for(state="hidden", timeout=120_000)
    settle(page)
    # An element in transition has no final colour to measure.
    page.add_style_tag(content="* {transition: none !important; animation: none !important}")


# --- axe-core -----------------------------------------------------------------------------------------------------


@cache
def axe_core() -> str:
    package = pytest.importorskip("axe_playwright_python")
    return (Path(package.__file__).parent / "axe.min.js").read_text(encoding="utf-8")


def findings(page) -> list[tuple[str, str, str]]:
    """Rule, place and message of each serious or critical finding, and of headings out of order.

    A place is the `data-testid` of the element or of the nearest around it, and axe-core's selector.
    """
    wait_until(lambda: equations_are_open(page))
    if page.evaluate("() => !window.axe"):
        page.evaluate(axe_core())
    return [
        tuple(found)
        for found in page.evaluate(
            """async () => {
                const tags = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'best-practice'];
                const answer = await axe.run(document, {resultTypes: ['violations'], runOnly: tags, elementRef: true});
                return answer.violations
                    .filter(({id, impact}) => ['serious', 'critical'].includes(impact) || id === 'heading-order')
                    .flatMap(({id, nodes}) => nodes.map(({element, target, failureSummary}) => {
                        const within = element.closest('[data-testid]')?.dataset.testid;
                        return [id, `${within} ${target.join(' ')}`, failureSummary];
                    }));
            }"""
        )
    ]


def equations_are_open(page) -> bool:
    """Whether all details are open; opens one that is not. A part that is drawn again closes its own."""
    return page.evaluate(
        """() => {
            const folded = [...document.querySelectorAll('[data-testid=stExpander]')]
                .filter(expander => expander.querySelector('summary').textContent.includes('Details'));
            const closed = folded.find(expander => !expander.querySelector('details[open]'));
            closed?.querySelector('summary').click();
            const sent = folded.every(expander => expander.querySelector('[data-testid=stCaptionContainer]'));
            return !closed && sent && folded.flatMap(expander => [...expander.querySelectorAll('.katex')])
                .every(equation => equation.checkVisibility({visibilityProperty: true}));
        }"""
    )


@pytest.fixture(scope="module")
def kinds():
    """Kinds of controls that show their focus; controls of one class look alike."""
    return set()


def turned(page, scheme: str) -> None:
    """Wait until the page shows a changed colour scheme."""
    page.wait_for_function(
        """dark => {
            const ground = getComputedStyle(document.querySelector('[data-testid=stApp]')).backgroundColor;
            return (Math.max(...ground.match(/[\\d.]+/g).slice(0, 3)) < 128) === dark;
        }""",
        arg=scheme == "dark",
    )
    settle(page)


def faults(page, path: str, scheme: str, kinds: set) -> dict:
    """What is wrong on a page in one scheme, by kind; the keyboard is tried in the light one."""
    opened = page.evaluate(STATE)
    assert opened.pop("heading").endswith("?") and opened.pop("figures") > 0
    at_rest(page)
    found = opened | {"axe": unlisted(findings(page)), "faint": low_contrast_text(page) if path else []}
    return found | (keyboard(page, kinds) if scheme == "light" else {})


def keyboard(page, kinds: set) -> dict:
    """Controls that Tab does not reach, reaches out of order, or gives no visible focus."""
    stops, visited, unseen = walk(page, kinds)
    assert len(stops) >= 4
    return {
        "not reached": not_reached(stops, visited),
        "out of order": visited if visited != sorted(visited) else [],
        "unseen": unseen,
    }


def seen_by_width(page, widths) -> tuple[dict, list]:
    """Problems of the layout at each of the widths that has one, and the findings of axe-core on a phone."""
    layout, phone = {}, []
    for width in at_each_width(page, widths):
        wait_until(lambda: equations_are_open(page))
        layout[width] = problems(page)
        if width == PHONE:
            phone = findings(page)
    return filled(layout), phone


STATE = """() => ({
    heading: document.querySelector('h1').innerText,
    figures: document.querySelectorAll('.js-plotly-plot, .live canvas, .beside').length,
    errors: document.querySelectorAll('[data-testid=stException], [data-testid=stAlertContentError]').length,
    overflow: Math.max(0, document.documentElement.scrollWidth - document.documentElement.clientWidth),
    // Axes of figures with the same label twice.
    repeated: [...document.querySelectorAll('.js-plotly-plot')].flatMap(plot =>
        [...new Set([...plot.querySelectorAll('g[class*="tick"]')].map(tick => tick.getAttribute('class')))]
            .map(axis => [...plot.querySelectorAll(`g[class="${axis}"] > text`)].map(text => text.textContent))
            .filter(labels => new Set(labels).size < labels.length)),
})"""
# Elements of the app that move by themselves.
MOVING = """() => document.getAnimations().map(animation => animation.effect?.target)
    .filter(target => target?.closest('.live, .lesson, .sharing, .js-plotly-plot'))
    .map(target => target.outerHTML)"""


@pytest.mark.more(after=1)
@pytest.mark.parametrize("path", PAGES)
def test_a_page_has_no_fault_in_either_scheme_at_any_width(open_page, kinds, path):
    """Slow, because it checks everything on a page that opens once; axe-core and the keyboard take longest.

    Every other page opens dark and narrow and then becomes light and wide, the rest the other way round.
    """
    first, second = WIDTHS if PAGES.index(path) % 2 else reversed(WIDTHS)
    page = open_page(path, WIDTHS[first], first, reduced_motion="reduce")
    show_all(page)
    found = {"moving": page.evaluate(MOVING), first: filled(faults(page, path, first, kinds))}
    layout, _ = seen_by_width(page, [WIDTHS[first]])
    page.emulate_media(color_scheme=second, reduced_motion="reduce")
    page.set_viewport_size({"width": WIDTHS[second], "height": 900})
    turned(page, second)
    show_all(page)
    found[second] = filled(faults(page, path, second, kinds))
    # Painting a page for another width takes as long as axe-core, so no width comes twice.
    rest = sorted(set(ALL_WIDTHS) - set(WIDTHS.values()), reverse=True)
    others, phone = seen_by_width(page, [WIDTHS[second], *rest])
    found |= {"layout": layout | others, "phone": unlisted(phone), "scripts": page.complaints}
    assert filled(found) == {}


def filled(found: dict) -> dict:
    return {name: one for name, one in found.items() if one}


def unlisted(found: list) -> list:
    """Findings of axe-core that `KNOWN` does not list."""
    return [one for one in found if not any(all(map(fnmatchcase, one, known)) for known in KNOWN)]


@pytest.mark.parametrize(
    "path",
    [
        "your_data?sample=White wine",
        "bounds?question=Does it hold?",
        "certificates?question=May test points teach?",
        "learn_kernel?along=2&angle=45",
    ],
)
def test_other_states_are_as_accessible_and_fit_every_screen_and_paper(open_page, kinds, path):
    """A page again with a sample table, on another tab or with a prior that is turned; a page load shows all of it."""
    page = open_page(path, reduced_motion="reduce")
    at_rest(page)
    found = findings(page)
    if "question" in path or "angle" in path:  # they have handles of their own
        assert filled(keyboard(page, kinds)) == {}
    page.emulate_media(media="print")
    layout = {"paper": problems(page)}
    page.emulate_media(media="null", color_scheme="dark", reduced_motion="reduce")
    turned(page, "dark")
    at_rest(page)
    found += findings(page)
    by_width, phone = seen_by_width(page, ALL_WIDTHS)
    page.goto(f"{page.url}&projector=true")
    page.wait_for_selector("h1")
    at_rest(page)
    resize(page, 1280, 720)
    layout |= by_width | {"projector": problems(page)}
    assert filled(layout) == {}
    assert unlisted(found + phone) == []
    assert page.complaints == []


def test_axe_finds_planted_defects(open_page):
    page = opened(open_page, "real_data")
    # In a panel above everything, where no redrawing of the page covers or removes them.
    page.evaluate(
        """() => {
            const panel = document.createElement('section');
            panel.style = 'position: fixed; inset: 30% 30% auto; z-index: 1000000; padding: 2em; background: #fff';
            panel.innerHTML = '<p style="color: #aaa">faint words</p><button></button>';
            document.body.append(panel);
        }"""
    )
    assert {rule for rule, *_ in findings(page)} == {"button-name", "color-contrast"}


def low_contrast_text(page) -> list:
    """Text of figures with a contrast to the page below 4.5, and that contrast."""
    return page.evaluate(
        """() => {
            const light = colour => {
                const [r, g, b] = colour.match(/[\\d.]+/g).map(v => v / 255)
                    .map(v => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
                return 0.2126 * r + 0.7152 * g + 0.0722 * b;
            };
            const ground = light(getComputedStyle(document.querySelector('[data-testid=stApp]')).backgroundColor);
            const words = [...document.querySelectorAll('.js-plotly-plot .main-svg text')]
                .filter(text => text.textContent.trim() && !text.closest('.textpoint'));  // on stars
            if (document.querySelector('.js-plotly-plot') && words.length < 5) throw new Error('no text found');
            return words.map(text => {
                const ink = light(getComputedStyle(text).fill);
                return [text.textContent, (Math.max(ink, ground) + 0.05) / (Math.min(ink, ground) + 0.05)];
            }).filter(([, contrast]) => contrast < 4.5);
        }"""
    )


# --- keyboard -----------------------------------------------------------------------------------------------------

# Every visible element that a mouse can use, in the order of the page, without Plotly's tools, which are hidden. Tab
# reaches one button of a group that is one control, and arrow keys reach the others.
REACHABLE = """() => {
    document.querySelectorAll('[data-stop]').forEach(element => delete element.dataset.stop);
    const seen = element => element.checkVisibility({visibilityProperty: true, opacityProperty: false})
        && !element.closest('[aria-hidden=true], [inert], .js-plotly-plot, [data-testid=stHeader]');
    const all = [...document.querySelectorAll('a[href], button, input, select, textarea, summary, [tabindex="0"]')]
        .filter(element => seen(element) && !element.disabled && element.tabIndex >= 0);
    all.forEach((element, k) => element.dataset.stop = k);
    const group = element => element.closest('[role=radiogroup], [data-testid=stButtonGroup]');
    return all.map(element => ({
        name: element.getAttribute('aria-label') || element.textContent.trim().slice(0, 40) || element.outerHTML,
        group: group(element) && (group(element).getAttribute('aria-label') ?? group(element).id),
        kind: [element.tagName, element.type, element.getAttribute('class'), group(element)?.getAttribute('role'),
               element.closest('[data-testid]')?.dataset.testid].join(' '),
    }));
}"""


def not_reached(stops: list, visited: list) -> list[str]:
    """Names of the stops that Tab did not reach, of a group none."""
    groups = {stops[stop]["group"] for stop in visited}
    return [
        stop["name"]
        for k, stop in enumerate(stops)
        if k not in visited and (stop["group"] is None or stop["group"] not in groups)
    ]


def walk(page, kinds: set) -> tuple[list, list, list]:
    """Go through a page with Tab; return its stops, those reached in their order, and those without a visible focus.

    If the page was drawn again meanwhile, a replaced element has lost the focus, so the walk is repeated.
    """
    for _ in range(3):
        stops, visited, unseen = walk_once(page, kinds)
        if page.locator("[data-stop]").count() == len(stops):
            break
        settle(page)
    return stops, visited, unseen


def walk_once(page, kinds: set) -> tuple[list, list, list]:
    stops = page.evaluate(REACHABLE)
    # Tab starts from the last focused element; this makes it the top of the page.
    page.evaluate(
        "() => { const top = document.body; top.tabIndex = -1; top.focus({preventScroll: true}); top.blur();"
        " top.removeAttribute('tabindex'); }"
    )
    visited, unseen = [], []
    for _ in range(3 * len(stops) + 40):
        page.keyboard.press("Tab")
        stop = page.evaluate("document.activeElement.dataset.stop ?? null")
        if stop is None:
            if len(visited) and page.evaluate("document.activeElement === document.body"):
                break
            continue
        if int(stop) in visited:
            break
        visited.append(int(stop))
        kind = stops[int(stop)]["kind"]
        if kind not in kinds:
            if focus_is_seen(page):
                kinds.add(kind)
            else:
                unseen.append(stops[int(stop)]["name"])
    return stops, visited, unseen


def focus_is_seen(page) -> bool:
    """Whether the focused element and its surroundings look different without the focus."""
    box = page.evaluate(
        """() => {
            const element = document.activeElement, {x, y, width, height} = element.getBoundingClientRect();
            const room = 12, left = Math.max(x - room, 0), top = Math.max(y - room, 0);
            return {x: left, y: top, width: Math.min(width + 2 * room, innerWidth - left),
                    height: Math.min(height + 2 * room, innerHeight - top)};
        }"""
    )
    if box["width"] <= 0 or box["height"] <= 0:
        return False
    with_focus = page.screenshot(clip=box, caret="initial")
    page.evaluate("() => { window.held = document.activeElement; held.blur(); document.body.offsetHeight; }")
    without = page.screenshot(clip=box, caret="initial")
    page.evaluate("() => held.focus({preventScroll: true, focusVisible: true})")
    return with_focus != without


# --- motion and touch ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("path", "slider"), [("landmarks?beta=0.1", "beta"), ("adaptive", "step")])
def test_play_does_not_glide_where_motion_is_reduced(open_page, path, slider):
    moves = """name => new Promise(done => {
        const input = document.querySelector(`.live input[name=${name}]`), begin = performance.now();
        const seen = [Number(input.value)], play = document.querySelector('.live .play');
        play.click();
        const look = () => {
            const now = Number(input.value);
            if (now !== seen.at(-1)) seen.push(now);
            if (performance.now() - begin < 2500) return setTimeout(look, 5);
            play.click();
            done(seen);
        };
        look();
    })"""
    calm, lively = (
        opened(open_page, path, reduced_motion=choice).evaluate(moves, slider) for choice in ("reduce", "no-preference")
    )
    assert 2 <= len(calm) <= 4  # a step a second
    assert len(lively) > 6  # at every frame that a busy machine paints
    assert slider == "beta" or all(place == round(place) for place in calm)


def test_touch_chooses_points_and_drags_the_slider(open_page):
    page = opened(open_page, "landmarks?how=clicked&picks=3-17", width=900, has_touch=True)
    page.touchscreen.tap(*page.evaluate(PLACE_OF_POINT, 40))
    page.wait_for_function("() => new URL(location.href).searchParams.get('picks') === '3-17-40'")
    settle(page)

    slider = page.locator(".live input[name=beta]").first
    finger = page.context.new_cdp_session(page)
    beta = "Number(document.querySelector('.live').view.beta.value)"
    seen = []
    for k in range(9):
        point = dict(zip("xy", inside(slider, 0.5 + 0.04 * k), strict=True))
        finger.send("Input.dispatchTouchEvent", {"type": "touchMove" if k else "touchStart", "touchPoints": [point]})
        page.wait_for_timeout(50)
        seen.append(page.evaluate(beta))
    assert len(set(seen)) >= 4 and seen == sorted(seen)  # it moves during the drag
    finger.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})
    page.wait_for_function("() => Number(new URL(location.href).searchParams.get('beta')) > 10")
