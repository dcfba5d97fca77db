"""Colour and light of every pixel: texture, lamps, reflections, stool, liquid, bubbles, sensor.

`look` is a `capsieve.phantom.light.Appearance`, `scene` a `capsieve.phantom.polyps.Surfaces`,
`tiles` a `capsieve.phantom.textures.Tiles`; `water` and `stool` are results of `liquid_at` and
`stool_at` in `capsieve.phantom.spoilers`.
"""

import math

import numba
import numpy as np

from capsieve.compiling import compiled
from capsieve.phantom.kernels.trace import cell

F = np.float32
_TURN = 6.28318531
_WORD = np.uint64(0xFFFFFFFF)
_BYTE = np.uint64(0xFF)

# A call with that many arrays for every pixel would take half as long as the work itself.
_inlined = numba.njit(nogil=True, error_model="numpy", forceinline=True)


@compiled
def shade(
    origin, axes, rays, pixel, surface, polyps, scene, wall, faces, tiles, look, water, stool
):
    """Return linear RGB of every pixel, and the number of pixels that liquid and stool cover.

    `axes` are the camera's right and down, `pixel` is the angle of a pixel, `surface` and `polyps`
    are results of `trace`. `wall` has the flat maps of the two slow fields and of the creases, and
    their number of columns. A row of `faces` is redness, roughness and texture offset of a polyp.
    """
    solids, ring = scene[3], look.ring_mm2
    image = np.zeros(rays.shape, np.float32)
    veiled, stained = 0, 0
    for row in range(rays.shape[0]):
        for col in range(rays.shape[1]):
            t = surface[row, col, 0]
            if t <= 0:
                continue
            vx, vy, vz = rays[row, col, 0], rays[row, col, 1], rays[row, col, 2]
            nx, ny, nz = surface[row, col, 3], surface[row, col, 4], surface[row, col, 5]
            facing = max(-(nx * vx + ny * vy + nz * vz), F(0.02))
            footprint = t * pixel / math.sqrt(max(facing, F(0.1)))  # mm
            point = (origin[0] + t * vx, origin[1] + t * vy, origin[2] + t * vz)
            which = polyps[row, col]
            wet, crease = look.wet, F(0)
            s, theta = surface[row, col, 1], surface[row, col, 2]
            first, second, hollow = _place_on_wall(
                wall, s * scene[2], theta * (F(wall[2]) / F(_TURN))
            )
            if which == 0:
                crease = look.creases * hollow
                red, green, blue, bx, by, bz, dirt = _wall(
                    point, (nx, ny, nz), s, theta, (first, second, hollow), footprint, scene,
                    tiles[0], look, stool,
                )  # fmt: skip
                wet *= F(1) - F(0.7) * dirt
                stained += dirt > F(0.5)
            else:
                red, green, blue, bx, by, bz = _polyp(
                    point, (first, second), footprint, solids[which - 1], faces[which - 1],
                    tiles[1], look,
                )  # fmt: skip
            # The film of water on the mucosa is smoother than the mucosa.
            mx, my, mz = nx - look.film * bx, ny - look.film * by, nz - look.film * bz
            scale = F(1) / math.sqrt(mx * mx + my * my + mz * mz)
            mx, my, mz = mx * scale, my * scale, mz * scale
            nx, ny, nz = nx - bx, ny - by, nz - bz
            scale = F(1) / math.sqrt(nx * nx + ny * ny + nz * nz)
            nx, ny, nz = nx * scale, ny * scale, nz * scale
            cosine = max(-(nx * vx + ny * vy + nz * vz), F(0.03))
            # The lamps are a ring, not a point: very near, the light no longer increases. Wet
            # tissue is less matte than chalk: the cosine to the power 3/4.
            root = math.sqrt(cosine)
            lamps = look.power / (t * t + ring)
            shadow = math.exp(F(-0.7) * max(crease, F(0)))
            light = lamps * root * math.sqrt(root) * shadow
            shine = F(0)
            if -(mx * vx + my * vy + mz * vz) > F(0.93):
                shine = wet * lamps * _reflection(mx, my, mz, vx, vy, vz, t, axes, look.sharpness)
            # Light from all sides takes the colour of the mucosa, and little reaches a crease.
            around = look.around * lamps * shadow * shadow
            red = red * (light + around * red) + shine
            green = green * (light + around * green) + shine
            blue = blue * (light + around * blue) + F(0.9) * shine
            if water[0] > 0:
                path = _path_in_liquid(t, origin[2] - water[1], point[2] - water[1])
                if path > 0:
                    clear = math.exp(-path * water[0])
                    above = origin[2] - water[1] >= 0
                    middle = t - F(0.75) * path if above else F(0.25) * path
                    glow = F(0.75) * look.power / (middle * middle + ring)
                    glow *= F(1) - clear
                    red = red * clear + water[2] * glow
                    green = green * clear + water[3] * glow
                    blue = blue * clear * math.exp(-path * water[0] * F(0.5)) + water[4] * glow
                    veiled += F(255) * (F(1) - clear) >= F(128)
            image[row, col, 0] = red
            image[row, col, 1] = green
            image[row, col, 2] = blue
    return image, veiled, stained


@_inlined
def _wall(point, normal, s, theta, place, footprint, scene, tile, look, stool):
    """Return colour and relief (slopes in the world) of the wall, and the amount of stool."""
    line, _, _, solids = scene
    nx, ny, nz = normal
    first, second, hollow = place
    u = s / tile[2] + look.shift_row
    v = theta * (F(1) / F(_TURN)) + look.shift_col
    level = _level(footprint, tile)
    vessel, grain, rise, swing = _sample(tile, level, u, v)
    if level == 0:
        _, more, rise2, swing2 = _sample(tile, 0, F(4) * u, F(4) * v)
        grain += F(0.6) * more
        rise += F(0.5) * rise2
        swing += F(0.5) * swing2
    # Crests are pink, hollows amber, from the folds down to the grain.
    mix = look.amber_share + look.hue * first - look.grain_hue * grain + F(0.2) * hollow
    bright = F(1) + look.patches * second + look.grain * grain
    red, green, blue = _mucosa(look, min(max(mix, F(0)), F(1)), max(bright, F(0.3)))
    blood = look.vessels * vessel * (F(1) + F(0.35) * first)
    blood = min(max(blood, F(0)), F(0.8))
    red *= F(1) - F(0.35) * blood
    green *= F(1) - blood
    blue *= F(1) - F(0.85) * blood
    # The crease around a polyp gets little light.
    for k in range(solids.shape[0]):
        dx, dy, dz = point[0] - solids[k, 0], point[1] - solids[k, 1], point[2] - solids[k, 2]
        gap = math.sqrt(dx * dx + dy * dy + dz * dz) - solids[k, 13]
        gap *= F(2) / solids[k, 13]
        if gap < F(2):
            dim = F(1) - F(0.3) * math.exp(-gap * gap)
            red, green, blue = red * dim, green * dim, blue * dim
    rise *= look.relief
    swing *= look.relief
    dirt = F(0)
    if stool[1] > 0:
        _, lump, slope, turn = _sample(tile, 3, F(0.9) * u, v)
        near = (s - stool[0]) / stool[1]
        dirt = (
            lump * F(0.022) + F(0.35) * first + F(0.35) * second + stool[2] * math.exp(-near * near)
        )
        dirt = (dirt + F(0.015) * grain) * F(2.2) - F(2.2)
        dirt = min(max(dirt, F(0)), F(1))
        if dirt > 0:
            # Lumps: thin at the edge, with the shape and the shade of their own.
            tone = (F(0.9) + F(0.006) * grain + F(0.008) * lump) * (F(0.5) + F(0.5) * dirt)
            red += dirt * (stool[3] * tone - red)
            green += dirt * (stool[4] * tone - green)
            blue += dirt * (stool[5] * tone - blue)
            rise += dirt * (F(0.5) * rise + F(0.02) * slope)
            swing += dirt * (F(0.5) * swing + F(0.02) * turn)
    # Rows of the relief go along the tangent, columns around the colon.
    p = line[min(int(s), line.shape[0] - 1)]
    bx = rise * p[3] + swing * (p[4] * nz - p[5] * ny)
    by = rise * p[4] + swing * (p[5] * nx - p[3] * nz)
    bz = rise * p[5] + swing * (p[3] * ny - p[4] * nx)
    return red, green, blue, bx, by, bz, dirt


@_inlined
def _polyp(point, place, footprint, solid, face, tile, look):
    """Return colour and relief (slopes in the world) of a polyp."""
    first, second = place
    dx, dy, dz = point[0] - solid[0], point[1] - solid[1], point[2] - solid[2]
    a = dx * solid[3] + dy * solid[4] + dz * solid[5]
    b = dx * solid[6] + dy * solid[7] + dz * solid[8]
    c = dx * solid[9] + dy * solid[10] + dz * solid[11]
    flat = math.sqrt(a * a + b * b)
    # The distance over the dome from its top, so that the texture is not stretched on the flanks.
    arc = math.atan2(flat, max(c + solid[12] - solid[14], F(0.05)))
    arc *= solid[12] / max(flat, F(1e-4)) / tile[2]
    level = _level(footprint, tile)
    vessel, grain, rise, swing = _sample(tile, level, a * arc + face[2], b * arc + face[3])
    # At its foot a polyp has the colour of the wall; its own begins above.
    own = min(max((c - solid[21]) / (F(0.5) * solid[12]), F(0)), F(1))
    rough = F(0.6) + F(0.8) * face[1]
    mix = look.amber_share + look.hue * first - look.grain_hue * grain - F(0.3) * own * face[0]
    bright = F(1) + look.patches * second + look.polyp_grain * rough * grain
    red, green, blue = _mucosa(look, min(max(mix, F(0)), F(1)), max(bright, F(0.3)))
    green *= F(1) - F(0.08) * own * face[0]
    blue *= F(1) - F(0.04) * own * face[0]
    blood = min(look.polyp_vessels * rough * vessel, F(0.7))
    red *= F(1) - F(0.25) * blood
    green *= F(1) - blood
    blue *= F(1) - F(0.8) * blood
    bump = look.polyp_relief * rough
    bx = bump * (rise * solid[3] + swing * solid[6])
    by = bump * (rise * solid[4] + swing * solid[7])
    bz = bump * (rise * solid[5] + swing * solid[8])
    return red, green, blue, bx, by, bz


@compiled
def _mucosa(look, mix, bright):
    """Return a colour between pink and amber."""
    (r, g, b), (red, green, blue) = look.pink, look.amber
    return (
        (r + mix * (red - r)) * bright,
        (g + mix * (green - g)) * bright,
        (b + mix * (blue - b)) * bright,
    )


@compiled
def _level(footprint, tile):
    """Return the level of detail for the footprint of a pixel in mm."""
    level = 0
    sample = tile[2] / F(tile[1])
    while level < 4 and footprint > F(1.6) * sample:
        sample *= F(2)
        level += 1
    return level


@compiled
def _sample(tile, level, u, v):
    """Return the four values of a tile at (u, v), in tiles, by interpolation in one level."""
    samples, size, _ = tile
    base = 0
    for _ in range(level):
        base += size * size
        size //= 2
    u = (u - math.floor(u)) * F(size)
    v = (v - math.floor(v)) * F(size)
    i, j = int(u), int(v)
    a, b = u - F(i), v - F(j)
    last = size - 1  # the size is a power of two
    i, j = i & last, j & last
    k, m = base + ((i + 1) & last) * size, (j + 1) & last
    i = base + i * size
    weights = ((F(1) - a) * (F(1) - b), (F(1) - a) * b, a * (F(1) - b), a * b)
    corners = (i + j, i + m, k + j, k + m)
    return (
        _mean(samples, corners, weights, 0),
        _mean(samples, corners, weights, 1) - F(128),
        _mean(samples, corners, weights, 2) - F(128),
        _mean(samples, corners, weights, 3) - F(128),
    )


@compiled
def _place_on_wall(wall, row, col):
    """Return the two slow fields and the depth of a crease at a place of the wall."""
    fields, creases, cols = wall
    i, j, k, a, b = cell(fields.shape[0] // cols, cols, row, col)
    weights = ((F(1) - a) * (F(1) - b), (F(1) - a) * b, a * (F(1) - b), a * b)
    i *= cols
    corners = (i + j, i + k, i + cols + j, i + cols + k)
    return (
        _mean(fields, corners, weights, 0),
        _mean(fields, corners, weights, 1),
        _mean(creases, corners, weights, 0),
    )


@compiled
def _mean(table, rows, weights, c):
    """Return a weighted mean of four rows in single precision, also of bytes."""
    total = weights[0] * F(table[rows[0], c]) + weights[1] * F(table[rows[1], c])
    return total + weights[2] * F(table[rows[2], c]) + weights[3] * F(table[rows[3], c])


@compiled
def _reflection(nx, ny, nz, vx, vy, vz, t, axes, sharp):
    """Return the specular reflection of four lamps in a ring around the lens."""
    total = F(0)
    for k in range(4):
        side = axes[k % 2]
        sign = F(3.2) if k < 2 else F(-3.2)
        lx, ly, lz = sign * side[0] - t * vx, sign * side[1] - t * vy, sign * side[2] - t * vz
        scale = F(1) / math.sqrt(lx * lx + ly * ly + lz * lz)
        hx, hy, hz = lx * scale - vx, ly * scale - vy, lz * scale - vz
        length = math.sqrt(hx * hx + hy * hy + hz * hz)
        cosine = (nx * hx + ny * hy + nz * hz) / max(length, F(1e-6))
        if cosine > F(0.9):
            total += math.exp(sharp * (cosine - F(1)))
    return total


@compiled
def _path_in_liquid(t, start, end):
    """Return the length of a ray in the liquid; both ends as heights above its level."""
    if start < 0 and end < 0:
        return t
    if end < 0:
        return t * end / (end - start)
    if start < 0:
        return t * start / (start - end)
    return F(0)


@compiled
def draw_bubbles(behind, surface, bubbles, look):
    """Return a linear RGB image with bubbles, and the number of pixels that they cover.

    A row of `bubbles`: row, column, radius (pixels), distance (mm), kind (0 a bubble, 1 foam, 2 a
    crumb of food). They are drawn in this order, each if the surface behind it is not nearer.
    Crumbs are not counted.
    """
    image = behind.copy()
    rows, cols, _ = image.shape
    covered = np.zeros((rows, cols), np.uint8)
    for k in range(bubbles.shape[0]):
        r0, c0, radius = bubbles[k, 0], bubbles[k, 1], bubbles[k, 2]
        away, kind = bubbles[k, 3], bubbles[k, 4]
        light = look.power / (away * away + look.ring_mm2)
        top, bottom = max(int(r0 - radius), 0), min(int(r0 + radius) + 2, rows)
        left, right = max(int(c0 - radius), 0), min(int(c0 + radius) + 2, cols)
        rim = max(F(0.05), F(0.9) / radius)
        size = max(F(0.045), F(0.6) / radius)
        strength = F(0.3) + F(0.7) * F(k * 7 % 11) / F(10)
        for row in range(top, bottom):
            for col in range(left, right):
                dy, dx = (F(row) - r0) / radius, (F(col) - c0) / radius
                rho = math.sqrt(dx * dx + dy * dy)
                if rho >= F(1) or surface[row, col, 0] < away:
                    continue
                if kind > F(1.5):  # an opaque crumb, lit from the camera
                    turn = F(k % 7)
                    rho += F(0.3) * math.sin(F(4) * dx + turn) * math.sin(F(5) * dy - turn)
                    if rho > F(0.85):
                        continue
                    tone = light * strength * (F(1) - F(0.6) * rho * rho - F(0.2) * dy)
                    image[row, col, 0] = F(0.62) * tone
                    image[row, col, 1] = F(0.50) * tone
                    image[row, col, 2] = F(0.26) * tone
                    continue
                covered[row, col] = 1
                # The middle is transparent; towards the rim the film reflects and refracts more.
                squeeze = F(1) - F(0.5) * rho * rho
                back_row = min(max(int(r0 + squeeze * dy * radius), 0), rows - 1)
                back_col = min(max(int(c0 + squeeze * dx * radius), 0), cols - 1)
                if surface[back_row, back_col, 0] <= 0:
                    back_row, back_col = row, col
                edge = (rho - (F(1) - F(2.2) * rim)) / rim
                bright = math.exp(-edge * edge)
                clear = F(0.92) - F(0.35) * rho * rho + F(1.8) * strength * bright
                if rho > F(1) - rim:
                    clear *= F(0.28)
                add = light * (F(0.08) * strength * bright + F(0.02) * kind)
                spot = F(0)
                for m in range(4):
                    sy = F(0.09) if m < 2 else F(-0.09)
                    sx = F(0.09) if m % 2 else F(-0.09)
                    ey, ex = (dy - sy) / size, (dx - sx) / size
                    spot += math.exp(-ey * ey - ex * ex)
                # The far wall of the bubble reflects the lamps once more, upside down.
                ey = (dy - F(0.62)) / (F(2.5) * size)
                ex = dx / (F(4) * size)
                spot += F(0.15) * math.exp(-ey * ey - ex * ex)
                add += light * F(0.9) * strength * spot
                for c in range(3):
                    tone = F(1) if c == 0 else F(1.04) - F(0.10) * F(c)
                    image[row, col, c] = clear * behind[back_row, back_col, c] + tone * add
    return image, covered.sum()


@compiled
def develop(image, inside, falloff, gain, glare, curve, noise, key, surround):
    """Return the frame as uint8: glare, tone curve, noise and surround.

    `glare` is light that the dome spreads over the whole field. `curve` is the tone curve over the
    square root of light from 0 to 2. `noise` is its standard deviation in grey levels, in the dark
    and in full light. The noise of a pixel is a hash of `key`, row, column and channel.
    """
    rows, cols = inside.shape
    out = np.empty(image.shape, np.uint8)
    top = F(curve.shape[0] - 1)
    scale = top / F(2)
    for row in range(rows):
        for col in range(cols):
            if not inside[row, col]:
                for c in range(3):
                    out[row, col, c] = surround[c]
                continue
            lens = falloff[row, col] * gain
            state = (np.uint64(row * cols + col) * np.uint64(2654435761) + key) & _WORD
            for c in range(3):
                light = max(image[row, col, c] * lens + glare[c], F(0))
                place = min(np.sqrt(light) * scale, top - F(1.001))
                i = int(place)
                value = curve[i] + (place - F(i)) * (curve[i + 1] - curve[i])
                state ^= state >> np.uint64(16)
                state = (state * np.uint64(0x7FEB352D)) & _WORD
                state ^= state >> np.uint64(15)
                state = (state * np.uint64(0x846CA68B)) & _WORD
                state ^= state >> np.uint64(16)
                # The sum of four bytes of a hash is nearly Gaussian, with a deviation of 148.
                total = (state & _BYTE) + ((state >> np.uint64(8)) & _BYTE)
                total += ((state >> np.uint64(16)) & _BYTE) + (state >> np.uint64(24))
                size = noise[0] + (noise[1] - noise[0]) * value * F(1 / 255)
                value += size * (F(total) - F(510)) * F(1 / 147.8)
                state = (state + np.uint64(0x9E3779B9)) & _WORD
                out[row, col, c] = np.uint8(min(max(value, F(0)), F(255)))
    return out
