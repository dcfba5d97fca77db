"""Ray tracing in the colon: a bent tube with a map of radii, and polyps as solids on its wall.

The tube is an implicit surface. A point has the coordinates (s, theta, rho) about the centreline,
and it is inside the lumen if rho < R(s, theta). A ray advances by a part of the distance to the
nearest surface, and s is tracked along it by Newton steps.

`scene` is a tuple of four:

- line: rows of a point of the centreline and its frame (tangent, normal, binormal), 1 mm apart
- wall: the map of R
- per_mm: rows of the map per millimetre
- solids: polyps; `capsieve.phantom.polyps.SOLID` names the columns
"""

import math

import numpy as np

from capsieve.compiling import compiled

__all__ = ["clearance", "sees", "trace_grid", "trace_pixels"]

F = np.float32
_FAR = 260.0  # mm; nothing is lit beyond
_STEPS = 70
_CAUTION = 0.62  # R - rho overstates the distance to a steep fold
_BLEND = 0.4  # of a polyp's half width, over which its foot blends with the wall


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
    """Return R by linear interpolation in the map, which is periodic in theta."""
    rows, cols = wall.shape
    row = min(max(row, F(0)), F(rows) - F(1.001))
    i = int(row)
    a = row - F(i)
    floor = int(col) if col >= 0 else int(col) - 1
    b = col - F(floor)
    j = floor + cols if floor < 0 else floor  # theta is within half a turn, or slightly beyond
    if j >= cols:
        j -= cols
    k = j + 1 if j + 1 < cols else 0
    top = wall[i, j] + b * (wall[i, k] - wall[i, j])
    low = wall[i + 1, j] + b * (wall[i + 1, k] - wall[i + 1, j])
    return top + a * (low - top)


@compiled
def _tube(x, y, z, s, line, wall, per_mm):
    """Return the distance to the wall, s and theta of a point, from a first guess of s."""
    last = line.shape[0] - 2
    p, q, f = line[0], line[0], F(0)
    dx, dy, dz = x, y, z
    for _ in range(2):
        s = min(max(s, F(0)), F(last) + F(0.999))
        i = int(s)
        f = s - F(i)
        p, q = line[i], line[i + 1]
        dx = x - (p[0] + f * (q[0] - p[0]))
        dy = y - (p[1] + f * (q[1] - p[1]))
        dz = z - (p[2] + f * (q[2] - p[2]))
        along = dx * (p[3] + f * (q[3] - p[3])) + dy * (p[4] + f * (q[4] - p[4]))
        along += dz * (p[5] + f * (q[5] - p[5]))
        bend = dx * (q[3] - p[3]) + dy * (q[4] - p[4]) + dz * (q[5] - p[5])
        if abs(along) < F(0.02):
            break
        s += along / max(F(1) - bend, F(0.25))
    a = dx * (p[6] + f * (q[6] - p[6])) + dy * (p[7] + f * (q[7] - p[7]))
    a += dz * (p[8] + f * (q[8] - p[8]))
    b = dx * (p[9] + f * (q[9] - p[9])) + dy * (p[10] + f * (q[10] - p[10]))
    b += dz * (p[11] + f * (q[11] - p[11]))
    rho = math.sqrt(a * a + b * b)
    theta = _bearing(b, a)
    per_turn = F(wall.shape[1]) / F(6.28318531)
    return _radius(wall, s * per_mm, theta * per_turn) - rho, s, theta


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
def _distance(x, y, z, s, scene):
    """Return the distance to the nearest surface, s, theta, its polyp, distance to a polyp.

    The polyp is its row in `solids` plus one, or 0 for the wall.
    """
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
def _march(ox, oy, oz, vx, vy, vz, t, s, scene):
    """Return distance, s, theta, polyp and distance to a polyp of a ray's first surface.

    A ray without a surface ends at a great distance.
    """
    low, low_room = t, F(0)
    step = F(0)
    theta, which, nearest = F(0), 0, F(_FAR)
    for _ in range(_STEPS):
        room, s, theta, which, nearest = _distance(ox + t * vx, oy + t * vy, oz + t * vz, s, scene)
        if room < 0:
            if step == 0:
                break
            # The surface is between the last two points: find it by the secant method.
            high, high_room = t, room
            for _ in range(4):
                t = low + (high - low) * low_room / (low_room - high_room)
                room, s, theta, which, nearest = _distance(
                    ox + t * vx, oy + t * vy, oz + t * vz, s, scene
                )
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
    h = F(0.3)
    n = F(0)
    for k in range(3):
        dx = h if k == 0 else F(0)
        dy = h if k == 1 else F(0)
        dz = h if k == 2 else F(0)
        up, _, _, _, _ = _distance(x + dx, y + dy, z + dz, s, scene)
        down, _, _, _, _ = _distance(x - dx, y - dy, z - dz, s, scene)
        out[k] = up - down
        n += out[k] * out[k]
    n = F(1) / max(math.sqrt(n), F(1e-6))
    for k in range(3):
        out[k] *= n


@compiled
def _shoot(origin, ray, t, s, scene, out):
    """Write distance, s, theta and normal of a ray's surface; return its polyp."""
    ox, oy, oz = origin[0], origin[1], origin[2]
    vx, vy, vz = ray[0], ray[1], ray[2]
    t, s, theta, which, nearest = _march(ox, oy, oz, vx, vy, vz, t, s, scene)
    out[0] = t
    out[1] = s
    out[2] = theta
    if t > 0:
        x, y, z = ox + t * vx, oy + t * vy, oz + t * vz
        if nearest > F(5):
            _slope(s, theta, scene, out[3:])
        else:
            _gradient(x, y, z, s, scene, out[3:])
    return which


@compiled
def trace_grid(origin, rays, used, start, scene, hits, which):
    """Trace the nodes of a coarse grid: hits[i, j] = distance, s, theta, normal.

    The rays of every fourth node start at the camera. The others start shortly before the nearest
    surface that these rays found around them.
    """
    rows, cols = used.shape
    for i in range(rows):
        for j in range(cols):
            which[i, j] = 0
            hits[i, j, 0] = F(-1)
            if used[i, j] and i % 4 == 0 and j % 4 == 0:
                which[i, j] = _shoot(
                    origin,
                    rays[i, j],
                    F(0.3),
                    start,
                    scene,
                    hits[i, j],
                )
    for i in range(rows):
        for j in range(cols):
            if not used[i, j] or (i % 4 == 0 and j % 4 == 0):
                continue
            near, s = F(_FAR), start
            for m in range(i // 4 * 4 - 4, i // 4 * 4 + 9, 4):
                for n in range(j // 4 * 4 - 4, j // 4 * 4 + 9, 4):
                    if not (0 <= m < rows and 0 <= n < cols and used[m, n]):
                        continue
                    if F(0) < hits[m, n, 0] < near:
                        near, s = hits[m, n, 0], hits[m, n, 1]
            near = F(0.8) * near if near < F(_FAR) else F(0.3)
            which[i, j] = _shoot(origin, rays[i, j], near, s, scene, hits[i, j])


@compiled
def _is_smooth(i, j, hits, which):
    """Return whether one smooth surface fills a cell, so that its corners can be interpolated."""
    a, b, c, d = hits[i, j], hits[i, j + 1], hits[i + 1, j], hits[i + 1, j + 1]
    w = which[i, j]
    if w != which[i, j + 1] or w != which[i + 1, j] or w != which[i + 1, j + 1]:
        return False
    low = min(a[0], b[0], c[0], d[0])
    high = max(a[0], b[0], c[0], d[0])
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
def trace_pixels(origin, rays, used, step, hits, which, scene, surface, polyps):
    """Interpolate the pixels of smooth cells, and trace a ray for every other pixel.

    `surface[row, col]` gets distance, s, theta and normal; `polyps` the row in `solids` plus one.
    """
    rows, cols = used.shape
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
                    polyps[row, col] = 0
                    if not used[row, col]:
                        surface[row, col, 0] = F(-1)
                        continue
                    if smooth:
                        g = F(col - j * step)
                        polyps[row, col] = which[i, j]
                        for m in range(6):
                            surface[row, col, m] = left[m] + g * rise[m]
                        continue
                    if near < 0:
                        near = F(0.93) * _nearest(i, j, hits)
                    s = hits[i, j, 1] if hits[i, j, 0] > 0 else hits[i + 1, j + 1, 1]
                    polyps[row, col] = _shoot(
                        origin,
                        rays[row, col],
                        near,
                        s,
                        scene,
                        surface[row, col],
                    )


@compiled
def sees(origin, rays, inside, start, scene, index):
    """Return per ray of a bundle: 0 misses the polyp, 1 would hit it if it were alone, 2 sees it.

    The part of the polyp below its foot is inside the wall and does not count.
    """
    answer = np.zeros(rays.shape[0], np.uint8)
    polyp = scene[3][index]
    for k in range(rays.shape[0]):
        v = rays[k]
        t = F(0.3)
        for _ in range(60):
            x, y, z = origin[0] + t * v[0], origin[1] + t * v[1], origin[2] + t * v[2]
            d = _solid(x, y, z, polyp)
            height = (x - polyp[0]) * polyp[9] + (y - polyp[1]) * polyp[10]
            height += (z - polyp[2]) * polyp[11]
            d = max(d, polyp[21] - height)
            if d < F(0.01) + F(0.0006) * t:
                answer[k] = 1
                break
            t += F(0.8) * d
            if t > F(_FAR):
                break
        if answer[k] and inside[k]:
            hit, _, _, which, _ = _march(
                origin[0],
                origin[1],
                origin[2],
                v[0],
                v[1],
                v[2],
                F(0.3),
                start,
                scene,
            )
            if hit > 0 and which == index + 1:
                answer[k] = 2
    return answer


@compiled
def clearance(x, y, z, s, scene):
    """Return the distance from a point to the nearest surface, and its s."""
    room, s, _, _, _ = _distance(x, y, z, s, scene)
    return room, s
