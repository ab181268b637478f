"""What compiled code is made of: signatures of rules and evaluations, calls by address, pointers, bits, the clock."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic as _intrinsic
from numba.extending import overload
from numba.extending import register_jitable as helper

MOVES = types.int32(types.voidptr, types.voidptr)  # position, room for moves → how many
PLAY = types.int32(types.voidptr, types.int32)  # position (changed in place), move → status
LEAF = types.float64(types.voidptr, types.int32, types.voidptr)  # position, player, weights → value

intrinsic: Any = _intrinsic

BLOCK = 64  # positions are copied in chunks of a cache line


def block(size: int) -> int:
    """`size` rounded up to whole blocks."""
    return -(-size // BLOCK) * BLOCK


def caller(sig):
    """For compiled code: `call(address, …)` calls the compiled function of this signature at an address.

    Its exceptions pass through.
    """

    def codegen(context, builder, _signature, args):
        convention = context.call_conv
        pointer = convention.get_function_type(sig.return_type, sig.args).as_pointer()
        function = builder.inttoptr(args[0], pointer)
        arguments = cgutils.unpack_tuple(builder, args[1])
        status, result = convention.call_function(builder, function, sig.return_type, sig.args, arguments)
        with cgutils.if_unlikely(builder, status.is_error):
            convention.return_status_propagate(builder, status)
        return result

    @intrinsic
    def call(_typing, function, *arguments):
        return sig.return_type(types.intp, types.BaseTuple.from_types(sig.args)), codegen

    return call


call_moves, call_play, call_leaf = caller(MOVES), caller(PLAY), caller(LEAF)


@intrinsic
def address(_typing, array, offset):
    """Where byte `offset` of an array lies."""

    def codegen(context, builder, signature, args):
        data = context.make_array(signature.args[0])(context, builder, args[0]).data
        return builder.gep(builder.bitcast(data, cgutils.voidptr_t), [args[1]])

    return types.voidptr(array, types.intp), codegen


@intrinsic
def pointer(_typing, number):
    """A number as the address it is."""

    def codegen(_context, builder, _signature, args):
        return builder.inttoptr(args[0], cgutils.voidptr_t)

    return types.voidptr(types.intp), codegen


@intrinsic
def ahead(_typing, pointer, offset):
    """A pointer `offset` bytes on."""

    def codegen(_context, builder, _signature, args):
        return builder.gep(builder.bitcast(args[0], cgutils.voidptr_t), [args[1]])

    return types.voidptr(types.voidptr, types.intp), codegen


@intrinsic
def copy_blocks(_typing, to, source, size):
    """Copy `size` bytes, whole blocks, one at a time; written out, for an index costs more than the copy."""

    def codegen(context, builder, _signature, args):
        line = ir.VectorType(ir.IntType(64), BLOCK // 8)
        to, source, size = args
        with cgutils.for_range_slice(builder, size.type(0), size, size.type(BLOCK), size.type) as (offset, _):
            part = builder.load(builder.bitcast(builder.gep(source, [offset]), line.as_pointer()), align=8)
            builder.store(part, builder.bitcast(builder.gep(to, [offset]), line.as_pointer()), align=8)
        return context.get_dummy_value()

    return types.void(types.voidptr, types.voidptr, types.intp), codegen


@intrinsic
def prefetch(_typing, table, slot):
    """Ask for a table entry early: memory answers while the other moves are being looked at."""

    def codegen(context, builder, signature, args):
        data = context.make_array(signature.args[0])(context, builder, args[0]).data
        where = builder.bitcast(builder.gep(data, [args[1]]), cgutils.voidptr_t)
        int32 = cgutils.int32_t
        kind = ir.FunctionType(ir.VoidType(), [cgutils.voidptr_t, int32, int32, int32])
        function = cgutils.get_or_insert_function(builder.module, kind, "llvm.prefetch.p0")
        builder.call(function, [where, int32(0), int32(3), int32(1)])
        return context.get_dummy_value()

    return types.void(table, types.uint64), codegen


_clock_gettime: Any = types.ExternalFunction("clock_gettime", types.int32(types.int32, types.voidptr))
_MONOTONIC = np.int32(time.CLOCK_MONOTONIC)


@helper
def now(room):
    """Nanoseconds as `time.monotonic_ns` counts them; `room` has two words to spare."""
    _clock_gettime(_MONOTONIC, address(room, 0))
    return room[0] * 1_000_000_000 + room[1]


@intrinsic
def _ctpop(_typing, word):
    return types.int64(types.uint64), lambda _c, builder, _s, args: builder.ctpop(args[0])


@intrinsic
def _cttz(_typing, word):
    return types.int64(types.uint64), lambda _c, builder, _s, args: builder.cttz(args[0], cgutils.true_bit)


def popcount(word) -> int:
    """How many bits of a 64-bit word are set.

    >>> popcount(0b1011)
    3
    """
    return int(word).bit_count()


def trailing_zeros(word) -> int:
    """The number of the lowest set bit of a 64-bit word that is not zero.

    >>> trailing_zeros(0b1000)
    3
    """
    return (int(word) & -int(word)).bit_length() - 1


@overload(popcount)
def _popcount(word):
    return lambda word: _ctpop(np.uint64(word))


@overload(trailing_zeros)
def _trailing_zeros(word):
    return lambda word: _cttz(np.uint64(word))
