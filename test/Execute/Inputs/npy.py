#!/usr/bin/env python3
"""Writes and prints .npy files without NumPy.

    npy.py write FILE DESCR SHAPE VALUES [--version N] [--fortran] [--header TEXT] [--cut BYTES]
    npy.py print FILE

DESCR is an element type ("<f4"), SHAPE is numbers ("1,2,4", "" for none), VALUES is numbers, repeated until the array is
full. --header takes the place of the dictionary; --cut leaves so many bytes of the file.
"""
import argparse
import ast
import itertools
import math
import struct

CODES = {"f2": "e", "f4": "f", "f8": "d", "i1": "b", "i2": "h", "i4": "i", "i8": "q", "u1": "B", "u2": "H", "u4": "I",
         "u8": "Q", "b1": "?", "V2": "H"}


def numbers(text, convert):
    return [convert(part) for part in text.split(",") if part]


def write(args):
    shape = tuple(numbers(args.shape, int))
    code = CODES[args.descr[1:]]
    convert = float if code in "efd" else int
    order = ">" if args.descr[0] == ">" else "<"
    values = itertools.islice(itertools.cycle(numbers(args.values, convert) or [0]), math.prod(shape))
    header = args.header or repr({"descr": args.descr, "fortran_order": args.fortran, "shape": shape})
    length = struct.pack("<H" if args.version == 1 else "<I", len(header) + 1)
    data = b"".join(struct.pack(order + code, value) for value in values)
    content = b"\x93NUMPY" + bytes([args.version, 0]) + length + header.encode() + b"\n" + data
    with open(args.file, "wb") as file:
        file.write(content[:args.cut])


def show(args):
    with open(args.file, "rb") as file:
        content = file.read()
    assert content[:8] == b"\x93NUMPY\x01\x00"
    start = 10 + struct.unpack("<H", content[8:10])[0]
    assert start % 64 == 0 and content[start - 1:start] == b"\n"
    header = ast.literal_eval(content[10:start].decode())
    assert not header["fortran_order"]
    data = content[start:]
    values = struct.unpack(f"<{math.prod(header['shape'])}{CODES[header['descr'][1:]]}", data)
    print(header["descr"], header["shape"], *(f"{value:.6g}" for value in values))


def main():
    parser = argparse.ArgumentParser()
    commands = parser.add_subparsers(required=True)
    writer = commands.add_parser("write")
    for name in ("file", "descr", "shape", "values"):
        writer.add_argument(name)
    writer.add_argument("--version", type=int, default=1)
    writer.add_argument("--fortran", action="store_true")
    writer.add_argument("--header")
    writer.add_argument("--cut", type=int)
    writer.set_defaults(run=write)
    printer = commands.add_parser("print")
    printer.add_argument("file")
    printer.set_defaults(run=show)
    args = parser.parse_args()
    args.run(args)


main()
