"""Media among content blocks: images, audio, video and files, in the shapes that providers and LangChain give them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

Medium = Literal["image", "audio", "video", "file"]

_MEDIUM_OF_TYPE: dict[str, Medium] = {
    "image": "image",
    "image_url": "image",
    "input_image": "image",
    "audio": "audio",
    "input_audio": "audio",
    "video": "video",
    "file": "file",
    "input_file": "file",
    "document": "file",
    "media": "file",
}
_MEDIUM_OF_MIME: dict[str, Medium] = {"image": "image", "audio": "audio", "video": "video"}


def medium_of(block: Mapping[str, Any]) -> Medium | None:
    """What kind of medium a content block holds: by its MIME type where it says one, else by its own type.

    Args:
        block: A content block.

    Returns:
        The kind, or `None` where it is no medium.
    """
    medium = _MEDIUM_OF_TYPE.get(str(block.get("type")))
    if medium is None:
        return None
    return _MEDIUM_OF_MIME.get(str(block.get("mime_type") or "").partition("/")[0], medium)
