"""An HTML document that is whole in itself: one style, at most one script, images inside, and no request at all."""

from base64 import b64encode
from hashlib import sha256
from html import escape


def document(title: str, body: str, *, style: str, script: str = "", data: str = "", has_images: bool = False) -> str:
    """The page; its policy knows style and script by their hashes.  `data` is JSON for the script, inert by itself."""
    policy = [f"default-src 'none'; style-src 'sha256-{_digest(style)}'"]
    policy += [f"script-src 'sha256-{_digest(script)}'"] if script else []
    policy += ["img-src data:"] if has_images else []
    policy.append("base-uri 'none'; form-action 'none'")
    tail = ""
    if script:
        tail = f'<script type="application/json" id="places">{data}</script>\n<script>{script}</script>'
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{escape("; ".join(policy))}">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        '<meta name="referrer" content="no-referrer">'
        f"<title>{escape(title)}</title><style>{style}</style></head>\n<body>\n<main>\n{body}\n</main>\n"
        f"{tail}</body></html>\n"
    )


def html_table(header: tuple[str, ...], rows: tuple[tuple[str, ...], ...]) -> str:
    """A table whose first column heads its rows, with room to scroll on a phone."""
    head = "".join(f"<th scope=col>{escape(name)}</th>" for name in header)
    lines = "".join(
        f"<tr><th scope=row>{escape(first)}</th>{''.join(f'<td>{escape(cell)}</td>' for cell in cells)}</tr>"
        for first, *cells in rows
    )
    return f'<div class="wide"><table><thead><tr>{head}</tr></thead>\n<tbody>{lines}</tbody></table></div>'


def _digest(text: str) -> str:
    return b64encode(sha256(text.encode()).digest()).decode()
