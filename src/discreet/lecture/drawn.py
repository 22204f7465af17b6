"""The built-in picture, a sun above mountains and a lake, as a formula: how dark each place is, from 0 to 1."""

from discreet.ndarrays import Floats

SPREAD = 0.145  # standard deviation of its darkness: a picture in greys, neither faint nor harsh
_FINEST = 512  # places a side that are computed; larger pictures repeat each
_HORIZON = 0.62  # where the lake begins, from the top
_SUN = (0.66, 0.27, 0.125)  # its place and its radius


def landscape(size: int) -> Floats:
    """size × size values in (0, 1), 1 for black; the same shapes at every size, a power of two."""
    import numpy as np

    side = min(size, _FINEST)
    drawn = _landscape(side)
    return np.repeat(np.repeat(drawn, size // side, axis=0), size // side, axis=1)


def _landscape(size: int) -> Floats:
    """The scene and its mirror image, with the sun's path on the water."""
    import numpy as np

    x, y = np.meshgrid((np.arange(size) + 0.5) / size, (np.arange(size) + 0.5) / size)
    depth = np.clip(y - _HORIZON, 0.0, None)  # below the shore the lake mirrors what is above, with ripples
    ripple = depth * 0.05 * np.sin(260 * depth**0.6) * np.sin(23 * x + 60 * depth)
    mirrored = _above(x + ripple, np.clip(_HORIZON - depth * 1.55 + ripple, 0.0, 1.0))
    picture = np.where(y < _HORIZON, _above(x, y), 0.16 + 0.66 * mirrored + 0.25 * depth)
    path = np.exp(-(((x - _SUN[0]) / (0.035 + 0.22 * depth)) ** 2)) * (np.sin(420 * depth**0.75) > 0.15)
    picture = np.where(y >= _HORIZON, picture - 0.3 * path * np.exp(-3.2 * depth), picture)
    picture = np.maximum(picture, _shore(x, y))
    spread: Floats = 0.47 + (picture - picture.mean()) * (SPREAD / picture.std())
    return np.clip(spread, 0.02, 0.98)


def _above(x: Floats, y: Floats) -> Floats:
    """Sky, sun and two ranges of mountains, the nearer one darker and with snow."""
    import numpy as np

    distance = np.hypot(x - _SUN[0], y - _SUN[1])
    sky = 0.5 - 0.42 * y - 0.22 * np.exp(-((distance / 0.3) ** 2))
    sky = np.where(distance < _SUN[2], -0.12, sky)
    far_ridge = _HORIZON - 0.15 - 0.09 * np.abs(np.sin(5.3 * x + 1.1)) - _rough(x, 17.0, 0.03)
    near_ridge = _peaks(x) - _rough(x, 31.0, 0.02)
    scene = np.where(y > far_ridge, 0.52 + 0.5 * (y - far_ridge), sky)
    below = y - near_ridge
    snow = y < 0.29 + 0.045 * np.sin(47 * x) + 0.025 * np.sin(113 * x + 2)
    lean = x - 0.12 * below + 0.012 * np.sin(38 * below)
    slope = np.where(_peaks(lean + 0.004) < _peaks(lean), 0.16, 0.0)  # the side away from the sun lies in shadow
    rock = np.where(snow, 0.12 + slope, 0.78 + slope - 0.35 * np.clip(below, 0.0, 0.4))
    seen: Floats = np.where(below > 0, rock, scene)
    return seen


def _peaks(x: Floats) -> Floats:
    """The height of the near range, from the top: a high peak on the left, lower ones to the right."""
    import numpy as np

    high = 0.13 + 1.25 * np.abs(x - 0.27)
    middle = 0.36 + 0.95 * np.abs(x - 0.55)
    low = 0.42 + 0.8 * np.abs(x - 0.93)
    edge = 0.35 + 0.9 * np.abs(x - 0.0)
    ridge: Floats = np.minimum(np.minimum(high, middle), np.minimum(low, edge))
    return ridge


def _rough(x: Floats, pace: float, height: float) -> Floats:
    """A jagged edge: triangle waves, each twice as fast and half as high."""
    import numpy as np

    waves = [np.abs(((pace * 2**k * x + 0.37 * k) % 2) - 1) * height / 2**k for k in range(5)]
    total: Floats = np.sum(waves, axis=0)
    return total


def _shore(x: Floats, y: Floats) -> Floats:
    """Firs on a dark bank at the lower left, 0 elsewhere."""
    import numpy as np

    bank = np.where(y > 0.9 + 0.16 * x + 0.01 * np.sin(40 * x), 1.05, 0.0)
    for place, foot, height in ((0.05, 0.93, 0.42), (0.135, 0.945, 0.3), (0.215, 0.955, 0.37), (0.3, 0.97, 0.22)):
        up = (foot - y) / height
        branches = 0.75 + 0.25 * np.abs(((up * 9) % 1) - 1)
        wide = 0.19 * height * np.clip(1 - up, 0.0, 1.0) * branches
        bank = np.where((up > 0) & (up < 1) & (np.abs(x - place) < wide), 1.05, bank)
        bank = np.where((up > -0.1) & (up <= 0) & (np.abs(x - place) < 0.012 * height), 1.05, bank)
    drawn: Floats = bank
    return drawn
