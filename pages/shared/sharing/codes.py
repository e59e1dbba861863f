"""QR codes of links, for a class that opens what the projector shows."""

from __future__ import annotations

from functools import lru_cache

import segno

#: Characters of the longest link that is shown: a code of 105 modules a side, which a phone reads from a screen.
MAX_LINK = 1000
_QUIET_ZONE = 4  # modules, as ISO/IEC 18004 asks for


def picture_of(link: object) -> dict | None:
    """Return the QR code of a link for the browser, or a sentence on why there is none; None without a link."""
    if not (isinstance(link, str) and link):  # a browser may send anything
        return None
    try:
        return {"link": link, "picture": qr_code(link)}
    except ValueError as error:
        return {"link": link, "problem": str(error)}


@lru_cache(maxsize=256)
def qr_code(link: str) -> str:
    """Return a QR code as the address of an SVG picture, black on white in every theme.

    Parameters
    ----------
    link : str
        Address of at most `MAX_LINK` characters of ASCII, as browsers write addresses.

    Returns
    -------
    str
        ``data:image/svg+xml,...``, without a size: it fills its place.

    Raises
    ------
    ValueError
        If the link is longer, or has other characters.
    """
    if len(link) > MAX_LINK:
        raise ValueError(
            f"The link has {len(link)} characters; a QR code that a phone reads from a screen holds at most {MAX_LINK}."
        )
    if not (link.isascii() and link.isprintable()):
        raise ValueError("The link has characters that an address must encode, so there is no QR code of it.")
    # Start at the lowest level of correction; segno raises it if the code stays as small.
    code = segno.make(link, error="l", micro=False)
    return code.svg_data_uri(border=_QUIET_ZONE, dark="#000", light="#fff", omitsize=True, nl=False)
