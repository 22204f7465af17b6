"""Scattering coefficients of pictures of 28 × 28: moduli of Morlet wavelets, averaged; nothing of it is learnt.

    order 0    x ∗ φ                     1 channel
    order 1    |x ∗ ψ| ∗ φ               2 scales × 8 angles
    order 2    ||x ∗ ψ₁| ∗ ψ₂| ∗ φ       fine, then coarse: 8 × 8 angles

φ is a Gaussian of four pixels, sampled at 7 × 7 places.  Bruna & Mallat (2013); for private learning Tramèr & Boneh
(2021).
"""

from math import cos, exp, pi, sin

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import functional

from discreet.ndarrays import Floats

Complexes = NDArray[np.complex128]
SIDE, PAD, ANGLES, PLACES = 36, 4, 8, 7
CHANNELS = 1 + 2 * ANGLES + ANGLES**2
_WIDTH, _FREQUENCY, _SLANT = 0.8, 3 * pi / 4, 4 / ANGLES  # of the finest wavelet
_PERIODS = range(-2, 3)


def scattering(pictures: Tensor) -> Tensor:
    """Channels × places of each picture."""
    padded = functional.pad(pictures, (PAD,) * 4, mode="reflect")[:, 0]
    spectrum = torch.fft.fft2(padded)[:, None]
    fine = torch.fft.ifft2(spectrum * _wavelets(0)).abs()
    coarse = torch.fft.ifft2(_halved(spectrum * _wavelets(1))).abs()
    both = torch.fft.ifft2(_halved(torch.fft.fft2(fine)[:, :, None] * _wavelets(1))).abs()
    parts = [_smooth(padded[:, None]), _smooth(fine), _smooth(coarse), _smooth(both).flatten(1, 2)]
    return torch.cat(parts, 1).flatten(2)


def features(pictures: Tensor, at_once: int = 100) -> Tensor:
    """The coefficients of many pictures."""
    return torch.cat([scattering(part) for part in pictures.split(at_once)])


def _wavelets(scale: int) -> Tensor:
    """The spectra of the wavelets of a scale, one an angle; they are real."""
    spectra = [np.fft.fft2(_morlet(scale, pi * angle / ANGLES)).real for angle in range(ANGLES)]
    return torch.from_numpy(np.stack(spectra)).float()


def _morlet(scale: int, angle: float) -> Complexes:
    width, frequency = _WIDTH * 2**scale, _FREQUENCY / 2**scale
    wave, envelope = _gabor(width, frequency, angle), _gabor(width, 0, angle)
    return wave - wave.sum() / envelope.sum() * envelope  # its mean is 0


def _gabor(width: float, frequency: float, angle: float) -> Complexes:
    total = np.zeros((SIDE, SIDE), dtype=np.complex128)
    rows, columns = np.mgrid[:SIDE, :SIDE]
    for down in _PERIODS:
        for right in _PERIODS:
            y, x = rows + down * SIDE, columns + right * SIDE
            along, across = cos(angle) * x + sin(angle) * y, cos(angle) * y - sin(angle) * x
            total += np.exp(-(along**2 + (_SLANT * across) ** 2) / (2 * width**2) + 1j * frequency * along)
    return total * _SLANT / (2 * pi * width**2)


def _halved(spectrum: Tensor) -> Tensor:
    """The spectrum of every second pixel."""
    side = spectrum.shape[-1] // 2
    return spectrum.unflatten(-1, (2, side)).unflatten(-3, (2, side)).mean((-4, -2))


def _smooth(pictures: Tensor) -> Tensor:
    average = torch.from_numpy(_average(pictures.shape[-1])).float()
    return average @ pictures @ average.T


def _average(side: int) -> Floats:
    """φ along one axis: a row for each place."""
    step, width = SIDE // side, _WIDTH * 2 * side / SIDE
    around = (sum(exp(-((pixel + turn * side) ** 2) / (2 * width**2)) for turn in _PERIODS) for pixel in range(side))
    kernel = np.array(list(around))
    return np.stack([np.roll(kernel / kernel.sum(), (PAD + 4 * place) // step) for place in range(PLACES)])
