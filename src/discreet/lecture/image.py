"""A picture from a file, as how dark each place is; the file is the reader's own, and its size is bounded."""

import warnings
from pathlib import Path
from typing import TYPE_CHECKING

from discreet.errors import DiscreetError, bad
from discreet.ndarrays import Floats

if TYPE_CHECKING:
    from PIL.Image import Image

MOST_PIXELS = 50_000_000
MOST_BYTES = 64 * 2**20
_FIX = "Give a photograph or a drawing as PNG or JPEG."


def darkness(path: Path, size: int) -> Floats:
    """The middle square of the picture at size × size, 1 for black."""
    import numpy as np

    try:
        from PIL import Image, ImageOps, UnidentifiedImageError
    except ImportError:
        raise bad("image", "needs the package Pillow", str(path), "Install discreet[plot].") from None
    rule = "must be a PNG or JPEG file"
    if not path.is_file():
        raise bad("image", rule, str(path), _FIX)
    if path.stat().st_size > MOST_BYTES:
        raise bad("image", f"must be at most {MOST_BYTES // 2**20} MB", str(path), "Make it smaller first.")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            with Image.open(path, formats=("PNG", "JPEG")) as image:
                if image.width * image.height > MOST_PIXELS:
                    fix = "Make it smaller first."
                    raise bad("image", f"must have at most {MOST_PIXELS:,} pixels", str(path), fix)
                upright = ImageOps.exif_transpose(image)
                deep = 256 if upright.mode.startswith("I") else 1  # sixteen bits
                grey = np.asarray(_on_white(upright), dtype=np.float64) / deep
    except DiscreetError:
        raise
    except (UnidentifiedImageError, OSError, SyntaxError, ValueError, EOFError, Image.DecompressionBombError):
        raise bad("image", rule, str(path), _FIX) from None
    side = min(grey.shape)
    top, left = ((length - side) // 2 for length in grey.shape)
    square = Image.fromarray(grey[top : top + side, left : left + side].astype(np.float32))
    values = np.asarray(square.resize((size, size), Image.Resampling.BOX), dtype=np.float64)
    if values.std() < 1:
        raise bad("image", "must show something: here every place is alike", str(path), _FIX)
    dark: Floats = np.clip(1 - values / 255, 0.02, 0.98)
    return dark


def _on_white(image: "Image") -> "Image":
    """Grey levels; what is transparent counts as white paper."""
    from PIL import Image

    if image.mode.startswith("I"):
        return image
    layers = image.convert("RGBA")
    paper = Image.new("RGBA", layers.size, "white")
    return Image.alpha_composite(paper, layers).convert("L")
