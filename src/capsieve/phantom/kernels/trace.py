"""Ray tracing in the colon: a bent tube with a map of radii, and polyps as solids on its wall.

The tube is an implicit surface. A point has the coordinates (s, theta, rho) about the centreline,
and it is inside the lumen if rho < R(s, theta). A ray advances by a part of the distance to the
nearest surface, and s is tracked along it by Newton steps.

`scene` is a `capsieve.phantom.polyps.Surfaces`: centreline and its frames 1 mm apart, map of R,
rows of the map per millimetre, and polyps.
"""

import math

import numpy as np

from capsieve.compiling import compiled

F = np.float32
_FAR = 260.0  # mm; nothing is lit beyond
_STEPS = 70
_CAUTION = 0.62  # R - rho overstates the distance to a steep fold
_BLEND = 0.4  # of a polyp's half width, over which its foot blends with the wall


@compiled
def trace(origin, nodes, nodes_used, rays, used, step, start, scene):
    """Return the surface at every pixel: distance, s, theta, normal; and its polyp.

    The distance is -1 at pixels that are not used. The polyp is its row in `solids` plus one, or 0
    for the wall. `nodes` are the rays of a grid of every `step` pixels: pixels are interpolated if
    one smooth surface fills their cell; every other pixel is traced.
    """
    hits, which = _trace_nodes(origin, nodes, nodes_used, start, scene)
    rows, cols = used.shape
    surface, polyps = np.full((rows, cols, 6), F(-1)), np.zeros((rows, cols), np.uint8)
    part = F(1) / F(step)
    left, rise = np.empty(6, np.float32), np.empty(6, np.float32)
    for i in range(hits.shape[0] - 1):
        for j in range(hits.shape[1] - 1):
            smooth = _is_smooth(i, j, hits, which)
            near = F(-1)
            for row in range(i * step, min((i + 1) * step, rows)):
                if smooth:
                    f = F(row - i * step) * part
                    for m in range(6):
                        left[m] = hits[i, j, m] + f * (hits[i + 1, j, m] - hits[i, j, m])
                        right = hits[i, j + 1, m] + f * (hits[i + 1, j + 1, m] - hits[i, j + 1, m])
                        rise[m] = (right - left[m]) * part
                for col in range(j * step, min((j + 1) * step, cols)):
                    if not used[row, col]:
                        continue
                    if smooth:
                        g = F(col - j * step)
                        polyps[row, col] = which[i, j]
                        for m in range(6):
                            surface[row, col, m] = left[m] + g * rise[m]
                        continue
                    if near < 0:
                        near = F(0.93) * _nearest(i, j, hits)
                    polyps[row, col] = _shoot(
                        origin, rays[row, col], near, hits[i, j, 1], scene, surface[row, col]
                    )
    return surface, polyps


@compiled
def _trace_nodes(origin, rays, used, start, scene):
    """Return surface and polyp at the nodes.

    The rays of every fourth node start at the camera. The others start shortly before the nearest
    surface that these rays found around them.
    """
    rows, cols = used.shape
    hits, which = np.full((rows, cols, 6), F(-1)), np.zeros((rows, cols), np.uint8)
    for i in range(0, rows, 4):
        for j in range(0, cols, 4):
            if used[i, j]:
                which[i, j] = _shoot(origin, rays[i, j], F(0.3), start, scene, hits[i, j])
    for i in range(rows):
        for j in range(cols):
            if not used[i, j] or (i % 4 == 0 and j % 4 == 0):
                continue
            near, s = F(_FAR), start
            for m in range(max(i // 4 * 4 - 4, 0), min(i // 4 * 4 + 9, rows), 4):
                for n in range(max(j // 4 * 4 - 4, 0), min(j // 4 * 4 + 9, cols), 4):
                    if F(0) < hits[m, n, 0] < near:
                        near, s = hits[m, n, 0], hits[m, n, 1]
            near = F(0.8) * near if near < F(_FAR) else F(0.3)
            which[i, j] = _shoot(origin, rays[i, j], near, s, scene, hits[i, j])
    return hits, which


@compiled
def _is_smooth(i, j, hits, which):
    """Return whether one smooth surface fills a cell, so that its corners can be interpolated."""
    a, b, c, d = hits[i, j], hits[i, j + 1], hits[i + 1, j], hits[i + 1, j + 1]
    w = which[i, j]
    if w != which[i, j + 1] or w != which[i + 1, j] or w != which[i + 1, j + 1]:
        return False
    low, high = min(a[0], b[0], c[0], d[0]), max(a[0], b[0], c[0], d[0])
    if low <= 0 or high > F(1.13) * low:
        return False
    if max(abs(a[2] - d[2]), abs(b[2] - c[2])) > F(0.6):
        return False
    first = a[3] * d[3] + a[4] * d[4] + a[5] * d[5]
    second = b[3] * c[3] + b[4] * c[4] + b[5] * c[5]
    return min(first, second) > F(0.86)


@compiled
def _nearest(i, j, hits):
    """Return the smallest distance around a cell."""
    low = F(_FAR)
    for m in range(max(i - 1, 0), min(i + 3, hits.shape[0])):
        for n in range(max(j - 1, 0), min(j + 3, hits.shape[1])):
            if F(0) < hits[m, n, 0] < low:
                low = hits[m, n, 0]
    return low


@compiled
def sees(origin, rays, inside, start, scene, index):
    """Return per ray of a bundle: 0 misses the polyp, 1 would hit it if it were alone, 2 sees it.

    The part of the polyp below its foot is inside the wall and does not count.
    """
    answer = np.zeros(rays.shape[0], np.uint8)
    polyp = scene[3][index]
    for k in range(rays.shape[0]):
        t = F(0.3)
        for _ in range(60):
            x, y, z = _point(origin, rays[k], t)
            height = (x - polyp[0]) * polyp[9] + (y - polyp[1]) * polyp[10]
            height += (z - polyp[2]) * polyp[11]
            d = max(_solid(x, y, z, polyp), polyp[21] - height)
            if d < F(0.01) + F(0.0006) * t:
                answer[k] = 1
                break
            t += F(0.8) * d
            if t > F(_FAR):
                break
        if answer[k] and inside[k]:
            _, _, _, which, _ = _march(origin, rays[k], F(0.3), start, scene)
            if which == index + 1:
                answer[k] = 2
    return answer


@compiled
def locate(x, y, z, s, scene):
    """Return s of a point, from a first guess, and the distance to the nearest surface."""
    room = F(0)
    for _ in range(4):
        room, s, _, _, _ = _distance(x, y, z, s, scene)
    return s, room


@compiled
def _point(origin, ray, t):
    return origin[0] + t * ray[0], origin[1] + t * ray[1], origin[2] + t * ray[2]


@compiled
def _shoot(origin, ray, t, s, scene, out):
    """Write distance, s, theta and normal of a ray's surface; return its polyp."""
    t, s, theta, which, nearest = _march(origin, ray, t, s, scene)
    out[0], out[1], out[2] = t, s, theta
    if nearest > F(5):
        _slope(s, theta, scene, out[3:])
    else:
        x, y, z = _point(origin, ray, t)
        _gradient(x, y, z, s, scene, out[3:])
    return which


@compiled
def _march(origin, ray, t, s, scene):
    """Return distance, s, theta, polyp and distance to a polyp of a ray's first surface.

    A ray without a surface ends at a great distance.
    """
    low, low_room = t, F(0)
    step = F(0)
    theta, which, nearest = F(0), 0, F(_FAR)
    for _ in range(_STEPS):
        x, y, z = _point(origin, ray, t)
        room, s, theta, which, nearest = _distance(x, y, z, s, scene)
        if room < 0:
            if step == 0:
                break
            # The surface is between the last two points: find it by the secant method.
            high, high_room = t, room
            for _ in range(4):
                t = low + (high - low) * low_room / (low_room - high_room)
                x, y, z = _point(origin, ray, t)
                room, s, theta, which, nearest = _distance(x, y, z, s, scene)
                if abs(room) < F(0.0008) * t + F(0.003):
                    break
                if room < 0:
                    high, high_room = t, room
                else:
                    low, low_room = t, room
            break
        if room < F(0.0012) * t + F(0.004):
            break
        # The last two points show how far it is to a surface at a slant.
        ahead = F(_CAUTION) * room
        if step > 0 and low_room > room:
            # The rim of a fold is thin, and a ray must not pass through it.
            bold = F(1.5) if room < F(0.8) else F(0.85)
            ahead = max(ahead, min(room * step / (low_room - room), bold * room))
        low, low_room = t, room
        step = ahead + F(0.01)
        t += step
        if t > F(_FAR):
            return F(_FAR), s, theta, 0, nearest
    return t, s, theta, which, nearest


@compiled
def _distance(x, y, z, s, scene):
    """Return the distance to the nearest surface, s, theta, its polyp, distance to a polyp."""
    line, wall, per_mm, solids = scene
    room, s, theta = _tube(x, y, z, s, line, wall, per_mm)
    which = 0
    best = room
    nearest = F(_FAR)
    for k in range(solids.shape[0]):
        d = _solid(x, y, z, solids[k])
        nearest = min(nearest, d)
        if d < best:
            best = d
            which = k + 1
        # The foot blends with the wall.
        blend = F(_BLEND) * solids[k, 13]
        h = max(blend - abs(d - room), F(0))
        room = min(room, d) - h * h / (F(4) * blend)
    return room, s, theta, which, nearest


@compiled
def _tube(x, y, z, s, line, wall, per_mm):
    """Return the distance to the wall, s and theta of a point, from a first guess of s."""
    p, q, f = line[0], line[0], F(0)
    dx, dy, dz = x, y, z
    for _ in range(2):
        s = min(max(s, F(0)), F(line.shape[0] - 2) + F(0.999))
        i = int(s)
        f = s - F(i)
        p, q = line[i], line[i + 1]
        dx = x - (p[0] + f * (q[0] - p[0]))
        dy = y - (p[1] + f * (q[1] - p[1]))
        dz = z - (p[2] + f * (q[2] - p[2]))
        along = _dot(dx, dy, dz, p, q, f, 3)
        bend = dx * (q[3] - p[3]) + dy * (q[4] - p[4]) + dz * (q[5] - p[5])
        if abs(along) < F(0.02):
            break
        s += along / max(F(1) - bend, F(0.25))
    a, b = _dot(dx, dy, dz, p, q, f, 6), _dot(dx, dy, dz, p, q, f, 9)
    theta = _bearing(b, a)
    per_turn = F(wall.shape[1]) / F(6.28318531)
    return _radius(wall, s * per_mm, theta * per_turn) - math.sqrt(a * a + b * b), s, theta


@compiled
def _dot(dx, dy, dz, p, q, f, k):
    """Return the product of a vector with an axis between two rows of the centreline."""
    total = dx * (p[k] + f * (q[k] - p[k])) + dy * (p[k + 1] + f * (q[k + 1] - p[k + 1]))
    return total + dz * (p[k + 2] + f * (q[k + 2] - p[k + 2]))


@compiled
def _bearing(y, x):
    """Return atan2(y, x), continuous and within 2e-4."""
    ax, ay = abs(x), abs(y)
    big, small = max(ax, ay), min(ax, ay)
    a = small / max(big, F(1e-9))
    q = a * a
    r = ((F(-0.0464964749) * q + F(0.15931422)) * q - F(0.327622764)) * q * a + a
    if ay > ax:
        r = F(1.57079637) - r
    if x < 0:
        r = F(3.14159274) - r
    return -r if y < 0 else r


@compiled
def _radius(wall, row, col):
    """Return R by linear interpolation in the map."""
    i, j, k, a, b = cell(wall.shape[0], wall.shape[1], row, col)
    top = wall[i, j] + b * (wall[i, k] - wall[i, j])
    low = wall[i + 1, j] + b * (wall[i + 1, k] - wall[i + 1, j])
    return top + a * (low - top)


@compiled
def cell(rows, cols, row, col):
    """Return row, column, next column and the fractions of a place in a map, periodic in theta."""
    row = min(max(row, F(0)), F(rows) - F(1.001))
    i = int(row)
    floor = int(col) if col >= 0 else int(col) - 1
    j = floor + cols if floor < 0 else floor  # theta is within half a turn, or slightly beyond
    if j >= cols:
        j -= cols
    return i, j, j + 1 if j + 1 < cols else 0, row - F(i), col - F(floor)


@compiled
def _solid(x, y, z, polyp):
    """Return the distance to a polyp: an ellipsoid with lobes, with or without a stalk."""
    x -= polyp[0]
    y -= polyp[1]
    z -= polyp[2]
    far = math.sqrt(x * x + y * y + z * z)
    if far > F(2) * polyp[18]:
        return far - polyp[18]
    u = x * polyp[3] + y * polyp[4] + z * polyp[5]
    v = x * polyp[6] + y * polyp[7] + z * polyp[8]
    w = x * polyp[9] + y * polyp[10] + z * polyp[11]
    a, b, c = u / polyp[12], v / polyp[13], w / polyp[14]
    k = math.sqrt(a * a + b * b + c * c)
    a, b, c = a / polyp[12], b / polyp[13], c / polyp[14]
    slope = math.sqrt(a * a + b * b + c * c) / max(k, F(1e-4))
    distance = (k - F(1)) / max(slope, F(1e-4))
    wave = polyp[16]
    lobes = math.sin(wave * u + polyp[17]) * math.sin(wave * v - polyp[17])
    distance -= polyp[15] * (lobes + F(0.5) * math.sin(F(1.7) * wave * w))
    if polyp[20] > 0:
        # The stalk goes from the head to the wall, along the axis w.
        t = min(max(w, -polyp[19]), F(0))
        stalk = math.sqrt(u * u + v * v + (w - t) * (w - t)) - polyp[20]
        near = max(F(1) - abs(distance - stalk), F(0))
        distance = min(distance, stalk) - F(0.25) * near * near
    return distance


@compiled
def _slope(s, theta, scene, out):
    """Write the wall's unit normal from the slopes of R over a cell of the map."""
    line, wall, per_mm, _ = scene
    i = min(int(s), line.shape[0] - 1)
    per_turn = F(wall.shape[1]) / F(6.28318531)
    row, col = s * per_mm, theta * per_turn
    along = (_radius(wall, row + 1, col) - _radius(wall, row - 1, col)) * F(0.5) * per_mm
    around = (_radius(wall, row, col + 1) - _radius(wall, row, col - 1)) * F(0.5)
    around *= per_turn / max(_radius(wall, row, col), F(0.5))
    c, a = math.cos(theta), math.sin(theta)
    n = F(0)
    for k in range(3):
        normal, binormal = line[i, 6 + k], line[i, 9 + k]
        g = along * line[i, 3 + k] - (c * normal + a * binormal)
        g += around * (c * binormal - a * normal)
        out[k] = g
        n += g * g
    n = F(1) / math.sqrt(n)
    for k in range(3):
        out[k] *= n


@compiled
def _gradient(x, y, z, s, scene, out):
    """Write the unit normal of the surface at a point, by central differences."""
    n = F(0)
    for k in range(3):
        dx, dy, dz = F(0.3) * F(k == 0), F(0.3) * F(k == 1), F(0.3) * F(k == 2)
        up, _, _, _, _ = _distance(x + dx, y + dy, z + dz, s, scene)
        down, _, _, _, _ = _distance(x - dx, y - dy, z - dz, s, scene)
        out[k] = up - down
        n += out[k] * out[k]
    n = F(1) / max(math.sqrt(n), F(1e-6))
    for k in range(3):
        out[k] *= n
