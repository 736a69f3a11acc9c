"""Disjoint boxes: are they, and which of them holds each point?

A label covers an interval of a column's codes, or, with holes, a set of them.  Boxes that are disjoint because somebody cut a
table in two, again and again, fall apart the same way: in some column the codes split into components that no label joins.  Boxes
and points are divided by these components until few boxes are left, which are compared one by one.
"""

try:
    import cython
except ImportError:  # uncompiled, and Cython is not installed
    from reticent.kernels import cython_names as cython
import numpy as np


def route_points(
    boxes: cython.int[:, ::1],
    points: cython.int[:, ::1],
    span: cython.int[:, ::1],
    member: cython.uchar[:, ::1],
    codes: cython.longlong,
    max_compared: cython.longlong,
    owner: cython.longlong[::1],
):
    """Set owner[p] to the box that holds point p, -1 for none; return True if no two boxes share a point.

    Where two do, `owner` is not complete.  boxes[b, c] numbers the label of box b in column c among the rows of `span`: first code,
    last code, and the row of `member` that says which codes between them are covered (-1: all).  No column has more than `codes`
    codes; up to `max_compared` boxes are compared.
    """
    router: BoxRouter = BoxRouter(boxes, points, span, member, codes, owner)
    is_disjoint: cython.bint
    with cython.nogil:
        is_disjoint = router.route(max_compared)
    return is_disjoint


@cython.final
@cython.cclass
class BoxRouter:
    """Boxes and points in parts that no label joins; a part is a stretch of `box_order` and one of `point_order`."""

    boxes: cython.int[:, ::1]
    points: cython.int[:, ::1]
    span: cython.int[:, ::1]
    member: cython.uchar[:, ::1]
    owner: cython.longlong[::1]
    box_order: cython.longlong[::1]
    point_order: cython.longlong[::1]
    spare: cython.longlong[::1]
    parts: cython.longlong[:, ::1]  # a stack of (first box, end of boxes, first point, end of points)
    part_count: cython.Py_ssize_t
    # the part at hand
    first_box: cython.Py_ssize_t
    end_box: cython.Py_ssize_t
    first_point: cython.Py_ssize_t
    end_point: cython.Py_ssize_t
    # the components of a column's codes in it: of each code its parent and where ranges begin and end, of each root its number
    # (-1: no box uses it) and how many boxes it has
    parent: cython.int[::1]
    openings: cython.int[::1]
    number: cython.int[::1]
    size: cython.int[::1]
    components: cython.int
    least_code: cython.int
    greatest_code: cython.int
    starts: cython.longlong[:, ::1]  # of each component: where its boxes begin, and its points

    def __init__(self, boxes, points, span, member, codes, owner):
        box_count = len(boxes)
        point_count = len(points)
        self.boxes = boxes
        self.points = points
        self.span = span
        self.member = member
        self.owner = owner
        self.box_order = np.arange(box_count)
        self.point_order = np.arange(point_count)
        self.spare = np.empty(max(box_count, point_count) + 1, np.int64)
        self.parts = np.empty((box_count + 2, 4), np.int64)
        self.parent, self.openings, self.number, self.size = np.empty((4, codes + 4), np.int32)
        self.starts = np.empty((2, box_count + 3), np.int64)
        self.part_count = 0
        self.components = 0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def route(self, max_compared: cython.longlong) -> cython.bint:
        """Divide boxes and points until few boxes are left, which are compared; return False where two share a point."""
        i: cython.Py_ssize_t
        column: cython.Py_ssize_t
        for i in range(self.points.shape[0]):
            self.owner[i] = -1
        self.push_part(0, self.boxes.shape[0], 0, self.points.shape[0])
        while self.part_count > 0:
            self.pop_part()
            column = -1
            if self.end_box - self.first_box > max_compared:
                column = self.choose_column()
            if column >= 0:
                self.divide_part(column)
                continue
            if self.has_overlap():
                return False
            self.assign_points()
        return True

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def push_part(
        self,
        first_box: cython.Py_ssize_t,
        end_box: cython.Py_ssize_t,
        first_point: cython.Py_ssize_t,
        end_point: cython.Py_ssize_t,
    ) -> cython.void:
        self.parts[self.part_count, 0] = first_box
        self.parts[self.part_count, 1] = end_box
        self.parts[self.part_count, 2] = first_point
        self.parts[self.part_count, 3] = end_point
        self.part_count += 1

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def pop_part(self) -> cython.void:
        self.part_count -= 1
        self.first_box = self.parts[self.part_count, 0]
        self.end_box = self.parts[self.part_count, 1]
        self.first_point = self.parts[self.part_count, 2]
        self.end_point = self.parts[self.part_count, 3]

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def choose_column(self) -> cython.Py_ssize_t:
        """Return the column whose largest component has the fewest boxes, its components numbered; -1 where none divides them."""
        column: cython.Py_ssize_t = -1
        numbered: cython.Py_ssize_t = -1
        best: cython.Py_ssize_t = -1
        count: cython.Py_ssize_t = self.end_box - self.first_box
        largest: cython.int
        fewest: cython.int = cython.cast(cython.int, count)
        for column in range(self.boxes.shape[1]):
            largest = self.number_components(column)
            numbered = column
            if largest < fewest:
                best = column
                fewest = largest
            if 4 * fewest <= 3 * count:  # small enough parts: any column will do
                break
        if best >= 0 and best != numbered:
            self.number_components(best)
        return best

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def number_components(self, column: cython.Py_ssize_t) -> cython.int:
        """Number the components of a column's codes; return how many boxes the largest has.

        All of them, where there is one component.
        """
        i: cython.Py_ssize_t
        root: cython.int
        largest: cython.int = 0
        self.join_codes(column)
        self.components = 0
        for i in range(self.first_box, self.end_box):
            root = _find_root(self.parent, self.span[self.boxes[self.box_order[i], column], 0])
            if self.number[root] < 0:
                self.number[root] = self.components
                self.components += 1
            self.size[root] += 1
            largest = self.size[root] if self.size[root] > largest else largest
        return largest

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def join_codes(self, column: cython.Py_ssize_t) -> cython.void:
        """Join the codes of a column that some label covers together."""
        i: cython.Py_ssize_t
        code: cython.int
        label: cython.int
        running: cython.int = 0
        low: cython.int = 2147483647
        high: cython.int = -1
        for i in range(self.first_box, self.end_box):
            label = self.boxes[self.box_order[i], column]
            low = self.span[label, 0] if self.span[label, 0] < low else low
            high = self.span[label, 1] if self.span[label, 1] > high else high
        for code in range(low, high + 2):
            self.parent[code] = code
            self.openings[code] = 0
            self.number[code] = -1
            self.size[code] = 0
        for i in range(self.first_box, self.end_box):
            label = self.boxes[self.box_order[i], column]
            if self.span[label, 2] < 0:
                self.openings[self.span[label, 0]] += 1
                self.openings[self.span[label, 1]] -= 1
            else:
                for code in range(self.span[label, 0] + 1, self.span[label, 1] + 1):
                    if self.member[self.span[label, 2], code]:
                        self.parent[_find_root(self.parent, code)] = _find_root(self.parent, self.span[label, 0])
        for code in range(low, high):
            running += self.openings[code]
            if running > 0:
                self.parent[_find_root(self.parent, code + 1)] = _find_root(self.parent, code)
        self.least_code = low
        self.greatest_code = high

    @cython.cfunc
    @cython.nogil
    @cython.inline
    @cython.exceptval(check=False)
    def find_box_component(self, box: cython.longlong, column: cython.Py_ssize_t) -> cython.longlong:
        return self.number[_find_root(self.parent, self.span[self.boxes[box, column], 0])]

    @cython.cfunc
    @cython.nogil
    @cython.inline
    @cython.exceptval(check=False)
    def find_point_component(self, point: cython.longlong, column: cython.Py_ssize_t) -> cython.longlong:
        """Return the component of a point's code; one behind the last where no box uses it."""
        code: cython.int = self.points[point, column]
        component: cython.longlong = -1
        if self.least_code <= code <= self.greatest_code:
            component = self.number[_find_root(self.parent, code)]
        return component if component >= 0 else self.components

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def divide_part(self, column: cython.Py_ssize_t) -> cython.void:
        """Divide boxes and points by the components of a column, and push each that has boxes."""
        i: cython.Py_ssize_t
        component: cython.longlong
        for i in range(self.components + 2):
            self.starts[0, i] = 0
            self.starts[1, i] = 0
        for i in range(self.first_box, self.end_box):
            self.starts[0, self.find_box_component(self.box_order[i], column) + 1] += 1
        for i in range(self.first_point, self.end_point):
            self.starts[1, self.find_point_component(self.point_order[i], column) + 1] += 1
        for i in range(self.components + 1):
            self.starts[0, i + 1] += self.starts[0, i]
            self.starts[1, i + 1] += self.starts[1, i]
        for i in range(self.components):
            if self.starts[0, i + 1] > self.starts[0, i]:
                self.push_part(
                    self.first_box + self.starts[0, i],
                    self.first_box + self.starts[0, i + 1],
                    self.first_point + self.starts[1, i],
                    self.first_point + self.starts[1, i + 1],
                )
        for i in range(self.first_box, self.end_box):
            component = self.find_box_component(self.box_order[i], column)
            self.spare[self.starts[0, component]] = self.box_order[i]
            self.starts[0, component] += 1
        for i in range(self.end_box - self.first_box):
            self.box_order[self.first_box + i] = self.spare[i]
        for i in range(self.first_point, self.end_point):
            component = self.find_point_component(self.point_order[i], column)
            self.spare[self.starts[1, component]] = self.point_order[i]
            self.starts[1, component] += 1
        for i in range(self.end_point - self.first_point):
            self.point_order[self.first_point + i] = self.spare[i]

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def has_overlap(self) -> cython.bint:
        """Tell whether two boxes of the part share a point."""
        i: cython.Py_ssize_t
        j: cython.Py_ssize_t
        column: cython.Py_ssize_t
        width: cython.Py_ssize_t = self.boxes.shape[1]
        for i in range(self.first_box, self.end_box):
            for j in range(i + 1, self.end_box):
                column = 0
                while column < width and _share_code(
                    self.span,
                    self.member,
                    self.boxes[self.box_order[i], column],
                    self.boxes[self.box_order[j], column],
                ):
                    column += 1
                if column == width:
                    return True
        return False

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def assign_points(self) -> cython.void:
        """Note the box of the part that holds each of its points."""
        i: cython.Py_ssize_t
        j: cython.Py_ssize_t
        column: cython.Py_ssize_t
        width: cython.Py_ssize_t = self.boxes.shape[1]
        for i in range(self.first_point, self.end_point):
            for j in range(self.first_box, self.end_box):
                column = 0
                while column < width and _holds_code(
                    self.span,
                    self.member,
                    self.boxes[self.box_order[j], column],
                    self.points[self.point_order[i], column],
                ):
                    column += 1
                if column == width:
                    self.owner[self.point_order[i]] = self.box_order[j]
                    break


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _find_root(parent: cython.int[::1], code: cython.int) -> cython.int:
    while parent[code] != code:
        parent[code] = parent[parent[code]]
        code = parent[code]
    return code


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _share_code(
    span: cython.int[:, ::1], member: cython.uchar[:, ::1], label: cython.int, other_label: cython.int
) -> cython.bint:
    """Tell whether two labels of one column share a code."""
    low: cython.int = span[label, 0] if span[label, 0] > span[other_label, 0] else span[other_label, 0]
    high: cython.int = span[label, 1] if span[label, 1] < span[other_label, 1] else span[other_label, 1]
    if span[label, 2] < 0 and span[other_label, 2] < 0:
        return low <= high
    code: cython.int = low
    while code <= high:
        if (span[label, 2] < 0 or member[span[label, 2], code]) and (
            span[other_label, 2] < 0 or member[span[other_label, 2], code]
        ):
            return True
        code += 1
    return False


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _holds_code(
    span: cython.int[:, ::1], member: cython.uchar[:, ::1], label: cython.int, code: cython.int
) -> cython.bint:
    """Tell whether a label covers a code."""
    if code < span[label, 0] or code > span[label, 1]:
        return False
    return span[label, 2] < 0 or member[span[label, 2], code] != 0
