"""Numba kernels on UTF-8 text in bytes: the cells of a delimited file, and positions of texts in a hash table.

Text i of an array ``data`` of bytes is data[starts[i]:ends[i]].
"""

import numba
import numpy as np

_jit = numba.njit(cache=True, nogil=True)

QUOTE, LINE_FEED, RETURN, APOSTROPHE = 34, 10, 13, 39
COMPLETE, NOT_CLOSED, AFTER_QUOTE = 0, 1, 2  # how a row ends: well, without a closing quote, with text after one


@_jit
def split_cells(data, delimiter, is_last, line, starts, ends, first_cell, lines):  # type: ignore[no-untyped-def]
    """The cells of all whole rows, by the rules of Python's csv module in its strict form. Blank lines are left out.

    Parameters
    ----------
    data : (bytes,) uint8
        Changed: a doubled quote in a quoted cell becomes one.
    delimiter : int
    is_last : bool
        Whether the end of the data is the end of the file, and so of the last row.
    line : int
        Number of the line at the start of the data.
    starts, ends : (cells,) int64
        Written: the bytes of each cell.
    first_cell, lines : (rows + 1,) and (rows,) int64
        Written: the first cell of each row, and the line on which it starts.

    Returns
    -------
    tuple of int
        Rows; bytes that they take; number of the line after them; COMPLETE, or what is wrong with the row there.
    """
    n, i, cells, rows, taken, next_line = len(data), 0, 0, 0, 0, line
    first_cell[0] = 0
    while i < n:
        if data[i] == LINE_FEED or data[i] == RETURN:  # a blank line
            if data[i] == RETURN:
                if i + 1 == n and not is_last:
                    break  # a line feed may follow
                i += i + 1 < n and data[i + 1] == LINE_FEED
            i, line = i + 1, line + 1
            taken, next_line = i, line
            continue
        row_line = line
        ended = False
        while not ended:
            start = end = i
            if i < n and data[i] == QUOTE:
                i += 1
                start = end = i
                closed = False
                while i < n and not closed:
                    byte = data[i]
                    if byte == QUOTE:
                        if i + 1 < n and data[i + 1] == QUOTE:
                            i += 1
                        elif i + 1 < n or is_last:
                            closed = True
                            continue
                        else:
                            break  # a second quote may follow
                    elif byte == LINE_FEED or (byte == RETURN and not (i + 1 < n and data[i + 1] == LINE_FEED)):
                        line += 1
                    data[end] = data[i]
                    end, i = end + 1, i + 1
                if not closed:
                    return rows, taken, next_line, NOT_CLOSED if is_last else COMPLETE
                i += 1
                if i < n and data[i] != delimiter and data[i] != LINE_FEED and data[i] != RETURN:
                    return rows, taken, next_line, AFTER_QUOTE
            else:
                while i < n and data[i] != delimiter and data[i] != LINE_FEED and data[i] != RETURN:
                    i += 1
                end = i
            if i == n and not is_last:
                return rows, taken, next_line, COMPLETE
            starts[cells], ends[cells] = start, end
            cells += 1
            if i < n and data[i] == delimiter:
                i += 1
                continue
            if i < n and data[i] == RETURN:
                if i + 1 == n and not is_last:
                    return rows, taken, next_line, COMPLETE
                i += i + 1 < n and data[i + 1] == LINE_FEED
            i, line, ended = min(i + 1, n), line + 1, True
        lines[rows] = row_line
        rows += 1
        first_cell[rows] = cells
        taken, next_line = i, line
    return rows, taken, next_line, COMPLETE


@_jit
def unescape(data, starts, ends, marks):  # type: ignore[no-untyped-def]
    """Move each start behind an apostrophe that one of the marks follows."""
    for i in range(len(starts)):
        a = starts[i]
        if ends[i] - a > 1 and data[a] == APOSTROPHE:
            for mark in marks:
                if data[a + 1] == mark:
                    starts[i] = a + 1


@_jit
def _hash(data, start, end):  # type: ignore[no-untyped-def]
    """FNV-1a of a text, its high bits mixed into the low ones."""
    h = np.uint64(14695981039346656037)
    for i in range(start, end):
        h = (h ^ np.uint64(data[i])) * np.uint64(1099511628211)
    return np.int64(h ^ (h >> np.uint64(32)))


@_jit
def fill_table(data, offsets, table):  # type: ignore[no-untyped-def]
    """Enter different texts into a hash table of -1: their numbers, each at the first free place.

    The table has a power of two places; text i is data[offsets[i]:offsets[i + 1]].
    """
    mask = len(table) - 1
    for i in range(len(offsets) - 1):
        at = _hash(data, offsets[i], offsets[i + 1]) & mask
        while table[at] >= 0:
            at = (at + 1) & mask
        table[at] = i


@_jit
def look_up(first, last, table, known, offsets, data, starts, ends, out, places):  # type: ignore[no-untyped-def]
    """out[i] = number of text i among the known ones; -1 if it is none of them, -2 if it is blank.

    In blocks of texts: first their places, then what stands there, then the comparisons, so that the memory of several
    texts is fetched at once. places: buffer of a block.
    """
    mask = len(table) - 1
    block = len(places)
    for begin in range(first, last, block):
        stop = min(begin + block, last)
        for i in range(begin, stop):
            places[i - begin] = _hash(data, starts[i], ends[i]) & mask
        for i in range(begin, stop):
            out[i] = table[places[i - begin]]
        for i in range(begin, stop):
            a, b, at = starts[i], ends[i], places[i - begin]
            k = a
            while k < b and (data[k] == 32 or 9 <= data[k] <= 13 or 28 <= data[k] <= 31):
                k += 1
            j = out[i] if k < b else -2
            while j >= 0:
                k = offsets[j]
                if offsets[j + 1] - k == b - a:
                    e = a
                    while e < b and data[e] == known[k]:
                        e, k = e + 1, k + 1
                    if e == b:
                        break
                at = (at + 1) & mask
                j = table[at]
            out[i] = j
