"""Formulas in LaTeX as MathML, which browsers draw without a script or a font of their own.

It knows the commands that the app's texts use, and raises on any other.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Container
from html import escape

_TOKEN = re.compile(r"\\[A-Za-z]+|\\.|\s+|.", re.DOTALL)

_GREEK = {
    **{"alpha": "α", "beta": "β", "gamma": "γ", "delta": "δ", "epsilon": "ϵ", "varepsilon": "ε", "theta": "θ"},
    **{"kappa": "κ", "lambda": "λ", "mu": "μ", "nu": "ν", "xi": "ξ", "pi": "π", "rho": "ρ", "sigma": "σ", "tau": "τ"},
    **{"phi": "ϕ", "varphi": "φ", "chi": "χ", "psi": "ψ", "omega": "ω"},
    **{"Gamma": "Γ", "Delta": "Δ", "Sigma": "Σ", "Phi": "Φ", "Omega": "Ω"},
}
_OPERATORS = {
    **{"le": "≤", "ge": "≥", "ne": "≠", "neq": "≠", "approx": "≈", "equiv": "≡", "propto": "∝", "sim": "∼", "in": "∈"},
    **{"cdot": "⋅", "times": "×", "pm": "±", "to": "→", "mapsto": "↦", "mid": "∣", "odot": "⊙", "ll": "≪", "gg": "≫"},
    **{"dots": "…", "ldots": "…", "cdots": "⋯", "nabla": "∇", "infty": "∞", "partial": "∂", "forall": "∀", "int": "∫"},
    **{"{": "{", "}": "}", "%": "%", "colon": ":"},
}
_FENCES = {
    **{"|": "‖", "lvert": "|", "rvert": "|", "lVert": "‖", "rVert": "‖", "Vert": "‖", "vert": "|"},
    **{"lfloor": "⌊", "rfloor": "⌋", "lceil": "⌈", "rceil": "⌉", "langle": "⟨", "rangle": "⟩"},
}
_SPACES = {",": "0.17em", ":": "0.22em", ";": "0.28em", " ": "0.25em", "!": "-0.17em", "quad": "1em", "qquad": "2em"}
_FUNCTIONS = {"ln", "log", "exp", "cos", "sin", "min", "max", "sup", "inf", "Pr"}
#: Drawn with their limits below and above, where a formula stands in a line of its own.
_WITH_LIMITS = {"sum": "∑", "prod": "∏"}
_LIMITS_BELOW = {"min", "max", "sup", "inf"}
_ACCENTS = {"widehat": "^", "hat": "^", "tilde": "~", "widetilde": "~", "bar": "¯", "overline": "¯", "vec": "→"}
_SIZES = {
    name + side: size for name, size in (("big", 1.2), ("Big", 1.8), ("bigg", 2.4)) for side in ("", "l", "r", "m")
}
_ALPHABETS = {"mathrm": "normal", "operatorname": "normal", "mathbf": "bold", "mathbb": "double-struck"}
_DOUBLE_STRUCK = {"E": "𝔼", "R": "ℝ", "P": "ℙ", "N": "ℕ"}


def mathml(latex: str, display: bool = False) -> str:
    r"""A formula as a MathML element.

    Parameters
    ----------
    latex : str
        Without the dollar signs around it.
    display : bool
        Whether it stands in a line of its own.

    Raises
    ------
    ValueError
        If the formula has a command that is not known, or braces that do not match.
    """
    reader = _Formula(latex, display)
    body = reader.row(None)
    mode = ' display="block"' if display else ""
    return f'<math{mode} xmlns="http://www.w3.org/1998/Math/MathML"><mrow>{body}</mrow></math>'


class _Formula:
    def __init__(self, latex: str, display: bool):
        self.latex, self.display = latex, display
        self.tokens = [token for token in _TOKEN.findall(latex) if not token.isspace()]
        # The words of \text keep their spaces.
        self.words = [re.sub(r"\s+", " ", text) for text in re.findall(r"\\text\{([^{}]*)\}", latex)]

    # --- tokens -----------------------------------------------------------------------------------------------------

    def next(self) -> str:
        if not self.tokens:
            raise ValueError(f"The formula {self.latex!r} ends too early.")
        return self.tokens.pop(0)

    def sees(self, *tokens: str) -> bool:
        return bool(self.tokens) and self.tokens[0] in tokens

    def take_name(self) -> str:
        """The name in braces after a \\begin or \\end."""
        self.next()
        name = ""
        while not self.sees("}"):
            name += self.next()
        self.next()
        return name

    # --- rows and scripts -------------------------------------------------------------------------------------------

    def row(self, *ends: str | None) -> str:
        """Elements up to one of these tokens, which stays; None is the end of the formula."""
        parts = []
        while self.tokens and self.tokens[0] not in ends:
            parts.append(self.scripted())
        if not self.tokens and None not in ends:
            raise ValueError(f"The formula {self.latex!r} lacks its {ends[0]}.")
        return "".join(parts)

    def scripted(self) -> str:
        limits = self.display and (self.tokens[0][1:] in _WITH_LIMITS or self.tokens[0][1:] in _LIMITS_BELOW)
        base = self.element()
        below = above = None
        primes = 0
        while self.sees("_", "^", "'"):
            mark = self.next()
            if mark == "'":
                primes += 1
            elif mark == "_":
                below = self.argument()
            else:
                above = self.argument()
        if primes:
            above = f"<mrow><mo>{'′' * primes}</mo>{above or ''}</mrow>"
        return _with_scripts(base, below, above, limits)

    def argument(self) -> str:
        """What a command or a script applies to: a group, a command, or one character."""
        if not self.sees("{"):
            return self.element(single=True)
        self.next()
        found = self.row("}")
        self.next()
        return f"<mrow>{found}</mrow>"

    def element(self, single: bool = False) -> str:
        if self.sees("{"):
            return self.argument()
        token = self.next()
        if token.startswith("\\"):
            return self.command(token[1:])
        if token.isdigit():
            return f"<mn>{token if single else token + self.digits()}</mn>"
        if token.isalpha():
            return f"<mi>{token}</mi>"
        return _operator(token)

    def digits(self) -> str:
        more = ""
        while self.tokens and (self.tokens[0].isdigit() or self.sees_decimals()):
            more += self.next()
        return more

    def sees_decimals(self) -> bool:
        return self.sees(".") and "".join(self.tokens[1:2]).isdigit()

    # --- commands ---------------------------------------------------------------------------------------------------

    def command(self, name: str) -> str:
        for table, draw in _TABLES:
            if name in table:
                return draw(self, name)
        raise ValueError(f"The formula {self.latex!r} has \\{name}, which deploy/site/formulas.py does not know.")

    def fraction(self, name: str) -> str:
        style = ' displaystyle="false"' if name == "tfrac" else ""
        return f"<mstyle{style}><mfrac>{self.argument()}{self.argument()}</mfrac></mstyle>"

    def root(self, _name: str) -> str:
        return f"<msqrt>{self.argument()}</msqrt>"

    def accent(self, name: str) -> str:
        return f'<mover accent="true">{self.argument()}<mo>{_ACCENTS[name]}</mo></mover>'

    def alphabet(self, name: str) -> str:
        letters = re.sub(r"<[^>]*>", "", self.argument())
        if name == "mathbb":
            return f"<mi>{_DOUBLE_STRUCK[letters]}</mi>"
        return f'<mi mathvariant="normal"{_BOLD if name == "mathbf" else ""}>{letters}</mi>'

    def text(self, _name: str) -> str:
        self.argument()
        return f"<mtext>{escape(self.words.pop(0))}</mtext>"

    def fenced(self, _name: str) -> str:
        opening, inside = self.fence(), self.row("\\right")
        self.next()
        return f"<mrow>{_fence(opening)}{inside}{_fence(self.fence())}</mrow>"

    def fence(self) -> str:
        token = self.next()
        return _FENCES.get(token[1:]) or _OPERATORS.get(token[1:]) or token

    def sized(self, name: str) -> str:
        size = _SIZES[name]
        return f'<mo stretchy="true" minsize="{size}em" maxsize="{size}em">{escape(self.fence())}</mo>'

    def environment(self, _name: str) -> str:
        name = self.take_name()
        rows, cells = [], []
        while True:
            cells.append(f"<mtd>{self.row('&', chr(92) * 2, chr(92) + 'end')}</mtd>")
            mark = self.next()
            if mark != "&":
                rows.append(f"<mtr>{''.join(cells)}</mtr>")
                cells = []
            if mark == "\\end":
                break
        self.take_name()
        brace = '<mo stretchy="true">{</mo>' if name == "cases" else ""
        return f'<mrow>{brace}<mtable columnalign="left">{"".join(rows)}</mtable></mrow>'


_BOLD = ' style="font-weight: bold"'
_TABLES: list[tuple[Container[str], Callable[[_Formula, str], str]]] = [
    (_GREEK, lambda _, name: f"<mi>{_GREEK[name]}</mi>"),
    (_SPACES, lambda _, name: f'<mspace width="{_SPACES[name]}"></mspace>'),
    (_FUNCTIONS, lambda _, name: f"<mi>{name}</mi><mo>&#x2061;</mo>" if name not in _LIMITS_BELOW else _limit(name)),
    (_WITH_LIMITS, lambda _, name: f"<mo>{_WITH_LIMITS[name]}</mo>"),
    (_FENCES, lambda _, name: f'<mo stretchy="false">{_FENCES[name]}</mo>'),
    (_OPERATORS, lambda _, name: f"<mo>{_OPERATORS[name]}</mo>"),
    (("frac", "tfrac", "dfrac"), _Formula.fraction),
    (("sqrt",), _Formula.root),
    (_ACCENTS, _Formula.accent),
    (_ALPHABETS, _Formula.alphabet),
    (("text",), _Formula.text),
    (("left",), _Formula.fenced),
    (_SIZES, _Formula.sized),
    (("begin",), _Formula.environment),
]


def _limit(name: str) -> str:
    return f'<mo movablelimits="true">{name}</mo>'


def _operator(token: str) -> str:
    stretchy = ' stretchy="false"' if token in "()[]|" else ""
    return f"<mo{stretchy}>{escape(token.replace('-', '−'))}</mo>"


def _fence(token: str) -> str:
    return "" if token == "." else f'<mo stretchy="true">{escape(token)}</mo>'


def _with_scripts(base: str, below: str | None, above: str | None, limits: bool) -> str:
    if below is None and above is None:
        return base
    name = ("sub" if below is not None else "") + ("sup" if above is not None else "")
    if limits:
        name = name.replace("sub", "under").replace("sup", "over")
    # A function's name ends with an invisible operator, which stays behind its scripts.
    base, mark, _ = base.partition("<mo>&#x2061;</mo>")
    return f"<m{name}>{base}{below or ''}{above or ''}</m{name}>{mark}"
