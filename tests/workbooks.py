"""Small workbooks in memory: the few parts of an .xlsx file that hold cells."""

import io
import zipfile
from xml.sax.saxutils import escape

_NS = 'xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"'
_RELATIONS = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_PACKAGE = "http://schemas.openxmlformats.org/package/2006/relationships"


def cell(value, place: str) -> str:
    """A cell as XML; a text stands in the cell itself."""
    if isinstance(value, bool):
        return f'<c r="{place}" t="b"><v>{int(value)}</v></c>'
    if isinstance(value, (int, float)):
        return f'<c r="{place}"><v>{value!r}</v></c>'
    return f'<c r="{place}" t="inlineStr"><is><t>{escape(value)}</t></is></c>' if value else ""


def sheet(rows) -> str:
    """A sheet as XML."""
    lines = [
        f'<row r="{i}">{"".join(cell(value, f"{chr(65 + j)}{i}") for j, value in enumerate(row))}</row>'
        for i, row in enumerate(rows, 1)
    ]
    return f"<worksheet {_NS}><sheetData>{''.join(lines)}</sheetData></worksheet>"


def workbook(**sheets) -> bytes:
    """An .xlsx file of named sheets, each a list of rows or its XML."""
    names = "".join(
        f'<sheet name="{name}" sheetId="{i}" xmlns:r="{_RELATIONS}" r:id="r{i}"/>' for i, name in enumerate(sheets, 1)
    )
    targets = "".join(
        f'<Relationship Id="r{i}" Type="{_RELATIONS}/worksheet" Target="worksheets/sheet{i}.xml"/>'
        for i in range(1, len(sheets) + 1)
    )
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(
            "[Content_Types].xml", f'<Types xmlns="{_PACKAGE.replace("relationships", "content-types")}"/>'
        )
        archive.writestr(
            "_rels/.rels",
            f'<Relationships xmlns="{_PACKAGE}"><Relationship Id="r1" Type="{_RELATIONS}/officeDocument" '
            'Target="xl/workbook.xml"/></Relationships>',
        )
        archive.writestr("xl/workbook.xml", f"<workbook {_NS}><sheets>{names}</sheets></workbook>")
        archive.writestr("xl/_rels/workbook.xml.rels", f'<Relationships xmlns="{_PACKAGE}">{targets}</Relationships>')
        for i, content in enumerate(sheets.values(), 1):
            archive.writestr(f"xl/worksheets/sheet{i}.xml", content if isinstance(content, str) else sheet(content))
    return file.getvalue()
