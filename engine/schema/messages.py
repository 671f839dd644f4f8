"""Messages for layers: of the same schema as the layer's own, whose types a plugin's fragment may have declared."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from google.protobuf import message_factory, text_format

from engine.errors import DataError

__all__ = ["new_message", "read_text_message"]


def new_message(like: Any, name: str) -> Any:
    """Return an empty message.

    Parameters
    ----------
    like : protobuf message
        Says which schema is meant.
    name : str
        Message type without the package, such as ``"Datum"``.

    Raises
    ------
    DataError
        If the schema has no such type.
    """
    try:
        descriptor = like.DESCRIPTOR.file.pool.FindMessageTypeByName(f"caffe.{name}")
    except KeyError as error:
        raise DataError(
            f"Message type '{name}' is not known.", next_step="Declare it in the plugin's .proto file."
        ) from error
    return message_factory.GetMessageClass(descriptor)()


def read_text_message(like: Any, name: str, path: Path) -> Any:
    """Read a file that holds one message as text; ``like`` and ``name`` are those of :func:`new_message`.

    Raises
    ------
    DataError
        If the file cannot be read, or is not such a message; the message names file and line.
    """
    message = new_message(like, name)
    try:
        return text_format.Parse(
            path.read_text(encoding="utf-8"), message, descriptor_pool=message.DESCRIPTOR.file.pool
        )
    except (OSError, UnicodeDecodeError, text_format.ParseError) as error:
        raise DataError(f"'{path}': expected a {name} as text, got {error}.", next_step="Correct the file.") from error
