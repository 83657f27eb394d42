"""`Picture`: a matplotlib figure that a notebook shows by itself."""

from __future__ import annotations

import io

from matplotlib.figure import Figure

DOTS_PER_INCH = 80
"""Sharp enough to read, and some 30 kB in a notebook."""


class Picture(Figure):
    """A figure made without `pyplot`, so that nothing global is touched and none has to be closed."""

    def _repr_png_(self) -> bytes:
        buffer = io.BytesIO()
        self.savefig(buffer, format="png", dpi=DOTS_PER_INCH)
        return buffer.getvalue()
