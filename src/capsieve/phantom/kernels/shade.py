"""Colour and light of every pixel: texture, lamps, wet glints, liquid and stool.

`look` and `water` are small tables of floats; `capsieve.phantom.light` says what each number is.
"""

import math

import numpy as np

from capsieve.compiling import compiled

__all__ = ["develop", "draw_bubbles", "shade"]

_WORD = np.uint64(0xFFFFFFFF)
_BYTE = np.uint64(0xFF)


@compiled
def _mean(tile, i, j, k, m, w0, w1, w2, w3, c):
    """Return the weighted mean of four samples, in single precision: bytes would make it double."""
    first = w0 * np.float32(tile[i, c]) + w1 * np.float32(tile[j, c])
    return first + w2 * np.float32(tile[k, c]) + w3 * np.float32(tile[m, c])


@compiled
def _fetch(tile, size, level, u, v):
    """Return the four values of a tile at (u, v), in tiles, between samples of one level."""
    base = 0
    for _ in range(level):
        base += size * size
        size //= 2
    u = (u - math.floor(u)) * np.float32(size)
    v = (v - math.floor(v)) * np.float32(size)
    i, j = int(u), int(v)
    a, b = u - np.float32(i), v - np.float32(j)
    last = size - 1  # a size is a power of two
    i, j = i & last, j & last
    k, m = (i + 1) & last, (j + 1) & last
    i, k = base + i * size, base + k * size
    w0 = (np.float32(1) - a) * (np.float32(1) - b)
    w1 = (np.float32(1) - a) * b
    w2 = a * (np.float32(1) - b)
    w3 = a * b
    return (
        _mean(tile, i + j, i + m, k + j, k + m, w0, w1, w2, w3, 0),
        _mean(tile, i + j, i + m, k + j, k + m, w0, w1, w2, w3, 1) - np.float32(128),
        _mean(tile, i + j, i + m, k + j, k + m, w0, w1, w2, w3, 2) - np.float32(128),
        _mean(tile, i + j, i + m, k + j, k + m, w0, w1, w2, w3, 3) - np.float32(128),
    )


@compiled
def _level(footprint, sample):
    """Return the level of detail for a pixel's footprint, both in mm."""
    level = 0
    while level < 4 and footprint > np.float32(1.6) * sample:
        sample *= np.float32(2)
        level += 1
    return level


@compiled
def _map(table, row, col):
    """Return the two slow fields of the wall between their samples."""
    rows, cols = table.shape[0], table.shape[1]
    row = min(max(row, np.float32(0)), np.float32(rows) - np.float32(1.001))
    i = int(row)
    a = row - np.float32(i)
    floor = int(col) if col >= 0 else int(col) - 1
    b = col - np.float32(floor)
    j = floor + cols if floor < 0 else floor
    if j >= cols:
        j -= cols
    k = j + 1 if j + 1 < cols else 0
    w0 = (np.float32(1) - a) * (np.float32(1) - b)
    w1 = (np.float32(1) - a) * b
    w2 = a * (np.float32(1) - b)
    w3 = a * b
    return (
        w0 * table[i, j, 0]
        + w1 * table[i, k, 0]
        + w2 * table[i + 1, j, 0]
        + w3 * table[i + 1, k, 0],
        w0 * table[i, j, 1]
        + w1 * table[i, k, 1]
        + w2 * table[i + 1, j, 1]
        + w3 * table[i + 1, k, 1],
    )


@compiled
def _glint(nx, ny, nz, vx, vy, vz, t, axes, sharp):
    """Return the mirror light of four lamps in a ring around the lens."""
    total = np.float32(0)
    for k in range(4):
        side = axes[k % 2]
        sign = np.float32(3.2) if k < 2 else np.float32(-3.2)
        # From the surface to the lamp: back along the ray, then over to the lamp.
        lx, ly, lz = sign * side[0] - t * vx, sign * side[1] - t * vy, sign * side[2] - t * vz
        scale = np.float32(1) / math.sqrt(lx * lx + ly * ly + lz * lz)
        hx, hy, hz = lx * scale - vx, ly * scale - vy, lz * scale - vz
        length = math.sqrt(hx * hx + hy * hy + hz * hz)
        cosine = (nx * hx + ny * hy + nz * hz) / max(length, np.float32(1e-6))
        if cosine > np.float32(0.9):
            total += math.exp(sharp * (cosine - np.float32(1)))
    return total


@compiled
def shade(
    origin, axes, rays, pixel, surface, polyps, line, tint, per_mm, solids, faces,
    wall_tile, wall_size, polyp_tile, polyp_size, tile_mm, polyp_mm, look, water, stool, out,
    stained, veil,
):  # fmt: skip
    """Write linear RGB of every pixel that has a surface; also where stool and liquid cover it."""
    rows, cols = polyps.shape
    per_turn = np.float32(tint.shape[1]) / np.float32(6.28318531)
    sample = tile_mm / np.float32(wall_size)
    turn = np.float32(1) / np.float32(6.28318531)
    for row in range(rows):
        for col in range(cols):
            t = surface[row, col, 0]
            stained[row, col] = 0
            veil[row, col] = 0
            vx, vy, vz = rays[row, col, 0], rays[row, col, 1], rays[row, col, 2]
            if t <= 0:
                out[row, col, 0] = np.float32(0)
                out[row, col, 1] = np.float32(0)
                out[row, col, 2] = np.float32(0)
                continue
            s, theta = surface[row, col, 1], surface[row, col, 2]
            nx, ny, nz = surface[row, col, 3], surface[row, col, 4], surface[row, col, 5]
            facing = max(-(nx * vx + ny * vy + nz * vz), np.float32(0.02))
            x, y, z = origin[0] + t * vx, origin[1] + t * vy, origin[2] + t * vz
            which = polyps[row, col]
            level = _level(t * pixel / math.sqrt(max(facing, np.float32(0.1))), sample)
            wet = look[10]
            if which == 0:
                u, v = s / tile_mm + look[17], theta * turn + look[18]
                vessel, grain, rise, swing = _fetch(wall_tile, wall_size, level, u, v)
                if level == 0:
                    _, more, rise2, swing2 = _fetch(
                        wall_tile, wall_size, 0, np.float32(4) * u, np.float32(4) * v
                    )
                    grain += np.float32(0.6) * more
                    rise += np.float32(0.5) * rise2
                    swing += np.float32(0.5) * swing2
                first, second = _map(tint, s * per_mm, theta * per_turn)
                mix = min(max(look[6] + np.float32(0.2) * first, np.float32(0)), np.float32(1))
                bright = np.float32(1) + look[7] * second + look[8] * grain
                red = (look[0] + mix * (look[3] - look[0])) * bright
                green = (look[1] + mix * (look[4] - look[1])) * bright
                blue = (look[2] + mix * (look[5] - look[2])) * bright
                blood = look[9] * vessel * (np.float32(1) + np.float32(0.35) * first)
                blood = min(max(blood, np.float32(0)), np.float32(0.8))
                red *= np.float32(1) - np.float32(0.35) * blood
                green *= np.float32(1) - blood
                blue *= np.float32(1) - np.float32(0.85) * blood
                # The crease around a polyp gets little light.
                for k in range(solids.shape[0]):
                    dx, dy, dz = x - solids[k, 0], y - solids[k, 1], z - solids[k, 2]
                    gap = math.sqrt(dx * dx + dy * dy + dz * dz) - solids[k, 13]
                    gap *= np.float32(2) / solids[k, 13]
                    if gap < np.float32(2):
                        dim = np.float32(1) - np.float32(0.3) * math.exp(-gap * gap)
                        red *= dim
                        green *= dim
                        blue *= dim
                p = line[min(int(s), line.shape[0] - 1)]
                # The relief's rows lie along the tangent, its columns around: across both.
                rise *= look[11]
                swing *= look[11]
                bx = rise * p[3] + swing * (p[4] * nz - p[5] * ny)
                by = rise * p[4] + swing * (p[5] * nx - p[3] * nz)
                bz = rise * p[5] + swing * (p[3] * ny - p[4] * nx)
                if stool[0] > 0:
                    _, lump, _, _ = _fetch(
                        wall_tile, wall_size, 3, np.float32(0.9) * u, np.float32(1) * v
                    )
                    near = (s - stool[1]) / stool[2]
                    here = math.exp(-near * near)
                    dirt = lump * np.float32(0.045) + np.float32(0.5) * first + stool[3] * here
                    dirt = (dirt + np.float32(0.015) * grain) * np.float32(2.2) - np.float32(2.2)
                    dirt = min(max(dirt, np.float32(0)), np.float32(1)) * stool[0]
                    if dirt > 0:
                        tone = np.float32(1) + np.float32(0.006) * grain + np.float32(0.004) * lump
                        red += dirt * (stool[4] * tone - red)
                        green += dirt * (stool[5] * tone - green)
                        blue += dirt * (stool[6] * tone - blue)
                        rough = np.float32(1) + np.float32(2.5) * dirt
                        bx, by, bz = bx * rough, by * rough, bz * rough
                        wet *= np.float32(1) - np.float32(0.5) * dirt
                        if dirt > np.float32(0.5):
                            stained[row, col] = 1
            else:
                solid, face = solids[which - 1], faces[which - 1]
                dx, dy, dz = x - solid[0], y - solid[1], z - solid[2]
                a = dx * solid[3] + dy * solid[4] + dz * solid[5]
                b = dx * solid[6] + dy * solid[7] + dz * solid[8]
                c = dx * solid[9] + dy * solid[10] + dz * solid[11]
                flat = math.sqrt(a * a + b * b)
                # The way over the dome from its top, not the distance in plan: no stretched flanks.
                arc = math.atan2(flat, max(c + solid[12] - solid[14], np.float32(0.05)))
                arc *= solid[12] / max(flat, np.float32(1e-4)) / polyp_mm
                u, v = a * arc + face[2], b * arc + face[3]
                small = polyp_mm / np.float32(polyp_size)
                detail = _level(t * pixel / math.sqrt(max(facing, np.float32(0.1))), small)
                vessel, grain, rise, swing = _fetch(polyp_tile, polyp_size, detail, u, v)
                mix = look[6]
                rough = look[8] * (np.float32(0.7) + np.float32(1.5) * face[1])
                bright = np.float32(1.38) + rough * grain
                redder = face[0]
                red = (look[0] + mix * (look[3] - look[0])) * bright
                green = (look[1] + mix * (look[4] - look[1])) * bright
                blue = (look[2] + mix * (look[5] - look[2])) * bright
                red *= np.float32(1) + np.float32(0.14) * redder
                green *= np.float32(1) - np.float32(0.11) * redder
                blue *= np.float32(1) - np.float32(0.06) * redder
                blood = min(np.float32(0.8) * look[9] * vessel, np.float32(0.6))
                green *= np.float32(1) - blood
                blue *= np.float32(1) - np.float32(0.8) * blood
                bump = look[11] * (np.float32(0.7) + np.float32(0.7) * face[1])
                bx = bump * (rise * solid[3] + swing * solid[6])
                by = bump * (rise * solid[4] + swing * solid[7])
                bz = bump * (rise * solid[5] + swing * solid[8])
            nx, ny, nz = nx - bx, ny - by, nz - bz
            scale = np.float32(1) / math.sqrt(nx * nx + ny * ny + nz * nz)
            nx, ny, nz = nx * scale, ny * scale, nz * scale
            cosine = max(-(nx * vx + ny * vy + nz * vz), np.float32(0.03))
            # The lamps are a ring, not a point: very near, the light no longer grows.
            root = math.sqrt(cosine)
            # Wet tissue is less matte than chalk: the power 3/4 of the cosine.
            light = look[12] / (t * t + look[13]) * root * math.sqrt(root)
            shine = np.float32(0)
            if cosine > np.float32(0.93):
                shine = wet * look[12] / (t * t + look[13])
                shine *= _glint(nx, ny, nz, vx, vy, vz, t, axes, look[15])
            # Light from all sides, which falls off slowly and takes the colour of every bounce.
            around = look[16] * look[12] / (t * np.float32(24) + look[13])
            red = red * (light + around * red) + shine
            green = green * (light + around * green) + shine
            blue = blue * (light + around * blue) + np.float32(0.9) * shine
            # Liquid: from where the ray dips under the level, or from the lens on.
            if water[0] > 0:
                height = z - water[1]
                start = origin[2] - water[1]
                path = np.float32(0)
                if start < 0 and height < 0:
                    path = t
                elif height < 0:
                    path = t * height / (height - start)
                elif start < 0:
                    path = t * start / (start - height)
                if path > 0:
                    clear = math.exp(-path * water[0])
                    mid = t - np.float32(0.75) * path if start >= 0 else np.float32(0.25) * path
                    glow = look[12] / (mid * mid + look[13]) * np.float32(0.8)
                    glow *= np.float32(1) - clear
                    tintc = math.exp(-path * water[0] * np.float32(0.5))
                    red = red * clear + water[2] * glow
                    green = green * clear + water[3] * glow
                    blue = blue * clear * tintc + water[4] * glow
                    veil[row, col] = np.uint8(np.float32(255) * (np.float32(1) - clear))
            out[row, col, 0] = red
            out[row, col, 1] = green
            out[row, col, 2] = blue


@compiled
def draw_bubbles(image, behind, distance, bubbles, covered):
    """Draw bubbles onto a linear RGB image, in the order given.

    A row of `bubbles`: row, column, radius (pixels), distance (mm), light, foam (0 clear, 1 white).
    A bubble shows where the surface behind it is not nearer than itself; `behind` is the image
    without bubbles. Marks `covered`.
    """
    rows, cols = covered.shape
    for k in range(bubbles.shape[0]):
        r0, c0, radius = bubbles[k, 0], bubbles[k, 1], bubbles[k, 2]
        away, light, foam = bubbles[k, 3], bubbles[k, 4], bubbles[k, 5]
        top, bottom = max(int(r0 - radius), 0), min(int(r0 + radius) + 2, rows)
        left, right = max(int(c0 - radius), 0), min(int(c0 + radius) + 2, cols)
        rim = max(np.float32(0.09), np.float32(1.1) / radius)
        for row in range(top, bottom):
            for col in range(left, right):
                dy, dx = (np.float32(row) - r0) / radius, (np.float32(col) - c0) / radius
                rho = math.sqrt(dx * dx + dy * dy)
                if rho >= np.float32(1) or distance[row, col, 0] < away:
                    continue
                covered[row, col] = 1
                # A thin wall of liquid: the middle shows what is behind, the rim bends it away.
                squeeze = np.float32(1) - np.float32(0.5) * rho * rho
                back_row = min(max(int(r0 + squeeze * dy * radius), 0), rows - 1)
                back_col = min(max(int(c0 + squeeze * dx * radius), 0), cols - 1)
                if distance[back_row, back_col, 0] <= 0:
                    back_row, back_col = row, col
                edge = (rho - (np.float32(1) - np.float32(1.6) * rim)) / rim
                bright = math.exp(-edge * edge)
                dark = np.float32(0.9) - np.float32(0.3) * rho * rho + np.float32(2.2) * bright
                if rho > np.float32(1) - np.float32(0.7) * rim:
                    dark = np.float32(0.22)
                add = light * (np.float32(0.07) * bright + np.float32(0.03) * foam)
                spot = np.float32(0)
                size = max(np.float32(0.07), np.float32(0.75) / radius)
                for m in range(4):
                    sy = np.float32(0.13) if m < 2 else np.float32(-0.13)
                    sx = np.float32(0.13) if m % 2 else np.float32(-0.13)
                    ey, ex = (dy - sy + np.float32(0.22)) / size, (dx - sx) / size
                    spot += math.exp(-ey * ey - ex * ex)
                add += light * np.float32(1.3) * spot
                # The lamps are seen once more, upside down, in the far wall of the bubble.
                ey = (dy - np.float32(0.68)) / (np.float32(2.2) * size)
                ex = dx / (np.float32(4) * size)
                add += light * np.float32(0.10) * math.exp(-ey * ey - ex * ex)
                for c in range(3):
                    tone = (
                        np.float32(1)
                        if c == 0
                        else np.float32(1.06) - np.float32(0.12) * np.float32(c)
                    )
                    image[row, col, c] = dark * behind[back_row, back_col, c] + tone * add


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
