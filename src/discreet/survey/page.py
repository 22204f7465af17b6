"""The page of a survey: one HTML file that randomises in the browser and sends the randomised report alone.

The compiled survey is embedded as JSON, and view.js shows its texts as text nodes only.  A content security policy
allows one style and one script, both by their digests, and requests to one server.
"""

import json
import re
from base64 import b64encode
from collections.abc import Mapping
from hashlib import sha256
from html import escape
from importlib.resources import files

from discreet import errors
from discreet.inert import in_json, visible
from discreet.survey.spec import Survey

SCRIPTS = ("encoder.js", "decimals.js", "sentences.js", "storage.js", "sending.js", "view.js")
_TAGS = str.maketrans({"<": "\\u003c", ">": "\\u003e", "&": "\\u0026"})  # inside JSON strings, so that no tag ends it
_ORIGIN = re.compile(r"https?://(?:[A-Za-z0-9.-]+|\[[0-9A-Fa-f:.]+\])(?::[0-9]{1,5})?")


def page(survey: Survey, server: str = "") -> str:
    """The HTML of the page, which posts to `server`/report; without a server, to /report where it was loaded from.

    A page that is opened from disk or hosted elsewhere needs the server's origin, such as https://survey.example.
    """
    if server and not _ORIGIN.fullmatch(server):
        fix = 'Give the scheme, the host and the port alone, such as "https://survey.example:8080".'
        raise errors.bad("server", "must be an origin without a path", server, fix)
    compiled = dict(survey.compiled)
    style, script = asset("page.css"), script_text()
    embedded = {"survey": compiled, "id": survey.digest, "server": server}
    parts = {
        "policy": escape(policy(style, script, server)),
        "title": escape(visible(compiled["title"])),
        "style": style,
        "data": in_json(json.dumps(embedded, ensure_ascii=False, separators=(",", ":"))).translate(_TAGS),
        "script": script,
    }
    return filled(asset("page.html"), parts)


def page_digest(text: str) -> str:
    """The SHA-256 of the page in hexadecimal, which anyone can compare with the file that they opened.

    >>> page_digest("")[:16]
    'e3b0c44298fc1c14'
    """
    return sha256(text.encode()).hexdigest()


def policy(style: str, script: str, server: str = "") -> str:
    """The content security policy: this style, this script, and requests to the server alone.

    >>> policy("", "", "https://survey.example").split("; ")[1]
    'connect-src https://survey.example'
    """
    own = (f"'sha256-{b64encode(sha256(text.encode()).digest()).decode()}'" for text in (style, script))
    rules = "default-src 'none'; connect-src {}; style-src {}; script-src {}; base-uri 'none'; form-action 'none'"
    return rules.format(server or "'self'", *own)


def script_text() -> str:
    """The script: its files one after the other, in a scope of their own."""
    parts = "\n".join(asset(name) for name in SCRIPTS)
    return f'"use strict";\n(() => {{\n{parts}}})();\n'


def asset(name: str) -> str:
    """The text of a file in the folder assets."""
    return files("discreet.survey").joinpath("assets").joinpath(name).read_text("utf-8")


def filled(template: str, parts: Mapping[str, str]) -> str:
    """The template with each `{{name}}` replaced once; what is put in is not searched.

    >>> filled("{{a}} and {{b}}", {"a": "{{b}}", "b": "2"})
    '{{b}} and 2'
    """
    return re.sub(r"\{\{([a-z]+)\}\}", lambda match: parts[match[1]], template)
