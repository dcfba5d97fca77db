"""From linear light to the bytes of a frame: gain, tone, noise, surround."""

import numpy as np

from capsieve.compiling import compiled

__all__ = ["develop"]

_WORD = np.uint64(0xFFFFFFFF)
_BYTE = np.uint64(0xFF)


@compiled
def develop(image, inside, falloff, gain, glare, curve, noise, key, surround, out):
    """Write the frame as uint8.

    `glare` is light that the dome spreads over the whole field. `curve` gives the value of each
    root of light, up to 2. `noise` is its deviation in grey values in the dark and in the light.
    The noise of a pixel is a hash of `key`, row, column and channel: it is the same whoever draws
    the pixel, and when.
    """
    rows, cols = inside.shape
    top = np.float32(curve.shape[0] - 1)
    scale = top / np.float32(2)
    for row in range(rows):
        for col in range(cols):
            if not inside[row, col]:
                for c in range(3):
                    out[row, col, c] = surround[c]
                continue
            lens = falloff[row, col] * gain
            state = (np.uint64(row * cols + col) * np.uint64(2654435761) + key) & _WORD
            for c in range(3):
                light = max(image[row, col, c] * lens + glare[c], np.float32(0))
                place = min(np.sqrt(light) * scale, top - np.float32(1.001))
                i = int(place)
                value = curve[i] + (place - np.float32(i)) * (curve[i + 1] - curve[i])
                state ^= state >> np.uint64(16)
                state = (state * np.uint64(0x7FEB352D)) & _WORD
                state ^= state >> np.uint64(15)
                state = (state * np.uint64(0x846CA68B)) & _WORD
                state ^= state >> np.uint64(16)
                # Four bytes of a hash add up to nearly a Gaussian of deviation 148.
                total = (state & _BYTE) + ((state >> np.uint64(8)) & _BYTE)
                total += ((state >> np.uint64(16)) & _BYTE) + (state >> np.uint64(24))
                size = noise[0] + (noise[1] - noise[0]) * value * np.float32(1 / 255)
                value += size * (np.float32(total) - np.float32(510)) * np.float32(1 / 147.8)
                state = (state + np.uint64(0x9E3779B9)) & _WORD
                out[row, col, c] = np.uint8(min(max(value, np.float32(0)), np.float32(255)))
