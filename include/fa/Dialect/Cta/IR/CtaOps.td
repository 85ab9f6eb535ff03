//===- CtaOps.td - Operations of the cta dialect -----------*- tablegen -*-===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Structure (work, role, if_any), shared memory (load, read, rings), matrix
// products, stores, lookups, and barriers.
//
//===----------------------------------------------------------------------===//

#ifndef FA_DIALECT_CTA_IR_CTAOPS_TD
#define FA_DIALECT_CTA_IR_CTAOPS_TD

include "fa/Dialect/Cta/IR/CtaDialect.td"
include "fa/Dialect/Cta/IR/CtaTypes.td"
include "fa/Dialect/Cta/IR/CtaAttrs.td"
include "mlir/Interfaces/ControlFlowInterfaces.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

//===----------------------------------------------------------------------===//
// Structure
//===----------------------------------------------------------------------===//

def Cta_WorkOp : Cta_Op<"work", [
    AttrSizedOperandSegments,
    SingleBlockImplicitTerminator<"::fa::cta::YieldOp">, RecursiveMemoryEffects]> {
  let summary = "runs the body for work items of the grid";
  let description = [{
    The body's arguments are the coordinates of a work item, each below its
    extent. The first coordinate runs fastest. `order` says which start first,
    and whether a block runs one item or many.

    `marked`: runs only those of the block's items that `cta.mark` has marked,
    in the work in front of it, which is for the same items; and no team begins
    before all teams that mark have ended that one. What they have stored there
    comes before what is stored here. An item that is not marked may be run too,
    so that several may share a mark.

    `iter_args`: where a team goes through many items (a persistent order, in a
    role), it may carry values from each to the next, as `scf.for` does from
    round to round. The arguments after the coordinates are what the item before
    yielded, for the team's first item the initial values; the results are what
    its last item yielded, or the initial values where it has none. Which items
    follow one another is the order's affair, so that carried values may say what
    is left to do for the item before, and nothing else about it. A marked work
    leaves out items, and carries nothing.

    ```mlir
    cta.work (%qi, %h, %b) in (%nq, %nh, %nb) order(#cta.order<lpt>) { ... }
    cta.work marked (%qi, %h, %b) in (%nq, %nh, %nb) order(#cta.order<lpt>) { ... }
    %r = cta.work (%qi) in (%nq) order(#cta.order<natural, persistent = static>)
        iter_args(%left = %nothing) -> (vector<64xf32>) {
      ...
      cta.yield %own : vector<64xf32>
    }
    ```
  }];
  let arguments = (ins Variadic<Index>:$extents, Variadic<AnyType>:$inits,
                       Cta_OrderAttr:$order, UnitAttr:$marked);
  let results = (outs Variadic<AnyType>:$results);
  let builders = [OpBuilder<(ins "::mlir::ValueRange":$extents,
                                 "::fa::cta::OrderAttr":$order,
                                 CArg<"bool", "false">:$marked), [{
    build($_builder, $_state, ::mlir::TypeRange(), extents,
          /*inits=*/::mlir::ValueRange(), order, marked);
  }]>];
  let regions = (region SizedRegion<1>:$body);
  let extraClassDeclaration = [{
    /// The body's arguments that say which item it is.
    ::mlir::ValueRange getCoordinates() {
      return getBody().getArguments().take_front(getExtents().size());
    }
    /// Those that the item before yielded.
    ::mlir::Block::BlockArgListType getCarried() {
      return getBody().getArguments().drop_front(getExtents().size());
    }
  }];
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
}

def Cta_MarkOp : Cta_Op<"mark"> {
  let summary = "marks the work item as one to be done again";
  let description = [{
    Where any element of the predicate is true in the team's fragment, the work
    item is one of those that a `cta.work marked` behind this one runs. Several
    teams may mark one item.

    ```mlir
    cta.mark %bad : vector<64xi1>
    ```
  }];
  let arguments = (ins VectorOfAnyRankOf<[I1]>:$predicate);
  let assemblyFormat = "$predicate attr-dict `:` type($predicate)";
  let hasVerifier = 1;
}

def Cta_RoleOp : Cta_Op<"role", [
    SingleBlockImplicitTerminator<"::fa::cta::YieldOp">, RecursiveMemoryEffects]> {
  let summary = "a program for some of the block's warps";
  let description = [{
    `teams` teams of `warps` warps run the body; its argument is the team's
    number. `regs` is the register budget of a thread.
    A role stands inside `cta.work` or holds one.

    ```mlir
    cta.role "compute" teams(%w in 2) warps(4) regs(240) { ... }
    ```
  }];
  let arguments = (ins StrAttr:$name, I64Attr:$teams, I64Attr:$warps,
                       OptionalAttr<I64Attr>:$regs);
  let regions = (region SizedRegion<1>:$body);
  let extraClassDeclaration = [{
    /// The threads that run the role.
    int64_t getThreads() { return getTeams() * getWarps() * 32; }
    /// The team's number, of index type.
    ::mlir::Value getTeam() { return getBody().getArgument(0); }
  }];
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
}

def Cta_IfAnyOp : Cta_Op<"if_any", [
    SingleBlockImplicitTerminator<"::fa::cta::YieldOp">, RecursiveMemoryEffects]> {
  let summary = "a branch that the whole team takes together";
  let description = [{
    Runs the first region where any element of the predicate is true in the
    team's fragment, else the second one. Rows of which no element is true must
    get the same from both, so that warps, which hold different rows, may decide
    each for itself.

    ```mlir
    %r = cta.if_any %grew : vector<64xi1> -> (vector<64xf32>) {
      cta.yield %a : vector<64xf32>
    } else {
      cta.yield %b : vector<64xf32>
    }
    ```
  }];
  let arguments = (ins VectorOfAnyRankOf<[I1]>:$predicate);
  let results = (outs Variadic<AnyType>:$results);
  let regions = (region SizedRegion<1>:$thenRegion, AnyRegion:$elseRegion);
  let assemblyFormat = [{
    $predicate `:` type($predicate) (`->` `(` type($results)^ `)`)? attr-dict-with-keyword
    $thenRegion (`else` $elseRegion^)?
  }];
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
}

def Cta_YieldOp : Cta_Op<"yield", [
    Pure, ReturnLike, Terminator,
    ParentOneOf<["WorkOp", "RoleOp", "IfAnyOp"]>]> {
  let summary = "ends a region of the dialect";
  let description = [{
    Yields the results of `cta.if_any`, and what `cta.work` carries to the next
    item; where there is nothing to yield, as in `cta.role`, it is not written.

    ```mlir
    cta.yield %a : vector<64xf32>
    ```
  }];
  let arguments = (ins Variadic<AnyType>:$operands);
  let builders = [OpBuilder<(ins), [{ build($_builder, $_state, ::mlir::ValueRange()); }]>];
  let assemblyFormat = "attr-dict ($operands^ `:` type($operands))?";
}

//===----------------------------------------------------------------------===//
// Shared memory
//===----------------------------------------------------------------------===//

def Cta_LoadOp : Cta_Op<"load", [AttrSizedOperandSegments]> {
  let summary = "loads a tile from global memory into shared memory";
  let description = [{
    The last two dimensions of the memref are the tile's rows and columns; the
    indices say where the tile begins. Rows at or past the memref's own number
    of rows, or past `until`, which is at most that, read as 0, and so do columns
    past the memref's own number where that is dynamic. The tile is there when
    the operation is done.

    `once`: all teams of the role meet, and share one copy. `each`: every team
    loads its own tile.

    ```mlir
    %k = cta.load once %K[%b, %h, %j, %c0] : memref<?x?x?x128xbf16> -> !cta.tile<64x128xbf16, swizzle = 128>
    ```
  }];
  let arguments = (ins Cta_LoadKindAttr:$kind,
                       Arg<AnyMemRef, "the matrix in global memory", [MemRead]>:$source,
                       Variadic<Index>:$indices, Optional<Index>:$rowEnd);
  let results = (outs Cta_TileType:$tile);
  let assemblyFormat = [{
    $kind $source `[` $indices `]` (`until` $rowEnd^)? attr-dict `:` type($source) `->` qualified(type($tile))
  }];
  let hasVerifier = 1;
}

def Cta_ReadOp : Cta_Op<"read", [MemoryEffects<[MemRead]>]> {
  let summary = "reads a shared tile into a fragment";
  let description = [{
    The fragment has the tile's shape and element type, spread over the threads
    of the team that reads.

    ```mlir
    %f = cta.read %t : !cta.tile<64x128xbf16, swizzle = 128> -> vector<64x128xbf16>
    ```
  }];
  let arguments = (ins Cta_TileType:$tile);
  let results = (outs AnyVectorOfNonZeroRank:$fragment);
  let assemblyFormat = [{
    $tile attr-dict `:` qualified(type($tile)) `->` type($fragment)
  }];
  let hasVerifier = 1;
}

def Cta_RingOp : Cta_Op<"ring", [MemoryEffects<[MemAlloc]>]> {
  let summary = "allocates the stages of a ring";
  let description = [{
    Stands at the top of the function. All stages are free at the beginning
    and at the end.

    `each(n)`: there is one such ring for each of the n teams of the role that
    consumes it. `cta.acquire` names the team whose ring it takes a stage of;
    `cta.consume` and `cta.release` are about the team's own.

    ```mlir
    %r = cta.ring : !cta.ring<2, !cta.tile<64x128xbf16, swizzle = 128>>
    %q = cta.ring each(2) : !cta.ring<1, !cta.tile<64x128xbf16, swizzle = 128>>
    ```
  }];
  let arguments = (ins OptionalAttr<I64Attr>:$teams);
  let results = (outs Cta_RingType:$ring);
  let builders = [OpBuilder<(ins "::mlir::Type":$ring), [{
    build($_builder, $_state, ring, /*teams=*/::mlir::IntegerAttr());
  }]>];
  let assemblyFormat =
      "(`each` `(` $teams^ `)`)? attr-dict `:` qualified(type($ring))";
  let hasVerifier = 1;
}

class Cta_RingStageOp<string mnemonic> : Cta_Op<mnemonic, [
    TypesMatchWith<"the tile is the ring's", "ring", "tile",
                   "::llvm::cast<RingType>($_self).getTile()">]> {
  let results = (outs Cta_TileType:$tile);
  let hasVerifier = 1;
}

def Cta_AcquireOp : Cta_RingStageOp<"acquire"> {
  let summary = "takes the oldest free stage of a ring";
  let description = [{
    Waits until one is free. The stage is to be filled by one `cta.copy`. Of a
    ring that is each team's, `team` says whose.

    ```mlir
    %e = cta.acquire %r : !cta.ring<2, !cta.tile<64x128xbf16, swizzle = 128>>
    %f = cta.acquire %q[%c1] : !cta.ring<1, !cta.tile<64x128xbf16, swizzle = 128>>
    ```
  }];
  let arguments = (ins Cta_RingType:$ring, Optional<Index>:$team);
  let builders = [OpBuilder<(ins "::mlir::Type":$tile, "::mlir::Value":$ring), [{
    build($_builder, $_state, tile, ring, /*team=*/::mlir::Value());
  }]>];
  let assemblyFormat =
      "$ring (`[` $team^ `]`)? attr-dict `:` qualified(type($ring))";
}

def Cta_CopyOp : Cta_Op<"copy", [AttrSizedOperandSegments]> {
  let summary = "starts to fill an acquired stage";
  let description = [{
    The stage is full when the copy is done; `cta.consume` waits for that.
    Coordinates and bounds are those of `cta.load`.

    ```mlir
    cta.copy %K[%b, %h, %j, %c0] to %e : memref<?x?x?x128xbf16>, !cta.tile<64x128xbf16, swizzle = 128>
    ```
  }];
  let arguments = (ins AnyMemRef:$source, Variadic<Index>:$indices,
                       Optional<Index>:$rowEnd, Cta_TileType:$tile);
  let assemblyFormat = [{
    $source `[` $indices `]` (`until` $rowEnd^)? `to` $tile attr-dict `:` type($source) `,` qualified(type($tile))
  }];
  let hasVerifier = 1;
}

def Cta_ConsumeOp : Cta_RingStageOp<"consume"> {
  let summary = "takes the oldest full stage of a ring for reading";
  let description = [{
    Waits until one is full.

    ```mlir
    %k = cta.consume %r : !cta.ring<2, !cta.tile<64x128xbf16, swizzle = 128>>
    ```
  }];
  let arguments = (ins Cta_RingType:$ring);
  let assemblyFormat = "$ring attr-dict `:` qualified(type($ring))";
}

def Cta_ReleaseOp : Cta_Op<"release"> {
  let summary = "gives a consumed stage back to its ring";
  let description = [{
    No product that reads the stage may still be in flight.

    ```mlir
    cta.release %k : !cta.tile<64x128xbf16, swizzle = 128>
    ```
  }];
  let arguments = (ins Cta_TileType:$tile);
  let assemblyFormat = "$tile attr-dict `:` qualified(type($tile))";
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

def Cta_MmaOp : Cta_Op<"mma", [MemoryEffects<[MemRead]>]> {
  let summary = "starts a matrix product";
  let description = [{
    `a` [M, K] is a shared tile or a 16-bit fragment, `b` a shared tile [K, N],
    or [N, K] with `transpose`; `acc` [M, N] is added where it is given.
    Operands must stay as they are until the flight is waited for.

    ```mlir
    %s = cta.mma %q, transpose %k : !tq, !tk -> !cta.flight<64x128xf32>
    %o = cta.mma %p, %v into %acc : vector<64x128xbf16>, !tv -> !cta.flight<64x128xf32>
    ```
  }];
  let arguments = (ins AnyType:$a, Cta_TileType:$b,
                       Optional<AnyVectorOfNonZeroRank>:$acc,
                       UnitAttr:$transpose);
  let results = (outs Cta_FlightType:$flight);
  let extraClassDeclaration = [{
    /// The columns of `a`, over which products are added.
    int64_t getDepth();
  }];
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
}

def Cta_WaitOp : Cta_Op<"wait", [
    TypesMatchWith<"the fragment is the flight's", "flight", "fragment",
                   "::llvm::cast<FlightType>($_self).getFragmentType()">]> {
  let summary = "waits for a product";
  let description = [{
    At most `pending` products that were started later may still be in flight
    afterwards.

    ```mlir
    %f = cta.wait %s pending 1 : !cta.flight<64x128xf32>
    ```
  }];
  let arguments = (ins Cta_FlightType:$flight,
                       DefaultValuedAttr<I64Attr, "0">:$pending);
  let results = (outs AnyVectorOfNonZeroRank:$fragment);
  let assemblyFormat = [{
    $flight (`pending` $pending^)? attr-dict `:` qualified(type($flight))
  }];
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Fragments
//===----------------------------------------------------------------------===//

def Cta_StoreOp : Cta_Op<"store", [AttrSizedOperandSegments]> {
  let summary = "stores a fragment or a row vector to global memory";
  let description = [{
    The memref's last dimensions are the fragment's; the indices say where it
    begins. Rows at or past the memref's number of rows, or past `until`, which
    is at most that, are not stored.

    ```mlir
    cta.store %o, %O[%b, %h, %i, %c0] : vector<64x128xbf16>, memref<?x?x?x128xbf16>
    cta.store %l, %LSE[%b, %h, %i] : vector<64xf32>, memref<?x?x?xf32>
    ```
  }];
  let arguments = (ins AnyVectorOfNonZeroRank:$value,
                       Arg<AnyMemRef, "the matrix in global memory", [MemWrite]>:$destination,
                       Variadic<Index>:$indices, Optional<Index>:$rowEnd);
  let assemblyFormat = [{
    $value `,` $destination `[` $indices `]` (`until` $rowEnd^)? attr-dict `:` type($value) `,` type($destination)
  }];
  let hasVerifier = 1;
}

def Cta_FetchOp : Cta_Op<"fetch", [AttrSizedOperandSegments]> {
  let summary = "reads a fragment or a row vector from global memory";
  let description = [{
    The counterpart of `cta.store`: each thread reads its elements straight into
    registers. The memref's last dimensions are the fragment's; the indices say
    where it begins. Rows at or past the memref's number of rows, or past
    `until`, which is at most that, read as `pad`.

    A team may read what it has stored itself, and what other teams of its role
    stored before all of them met (`cta.load once`, `cta.combine`, `cta.meet`).

    ```mlir
    %a = cta.fetch %A[%b, %h, %i, %c0] : memref<?x?x?x128xf32> -> vector<64x128xf32>
    %m = cta.fetch %M[%b, %h, %i] pad(0xFF800000) : memref<?x?x?xf32> -> vector<64xf32>
    ```
  }];
  let arguments = (ins Arg<AnyMemRef, "the matrix in global memory", [MemRead]>:$source,
                       Variadic<Index>:$indices, Optional<Index>:$rowEnd,
                       DefaultValuedAttr<F32Attr, "0.0f">:$pad);
  let results = (outs VectorOfAnyRankOf<[F32, F16, BF16]>:$value);
  let assemblyFormat = [{
    $source `[` $indices `]` (`until` $rowEnd^)? (`pad` `(` $pad^ `)`)? attr-dict `:` type($source) `->` type($value)
  }];
  let hasVerifier = 1;
}

/// The vector dialect's, whose definitions would make its enums here again.
def Cta_CombiningKindAttr : Attr<
    CPred<"::llvm::isa<::mlir::vector::CombiningKindAttr>($_self)">,
    "how elements are combined"> {
  let storageType = "::mlir::vector::CombiningKindAttr";
  let returnType = "::mlir::vector::CombiningKind";
  let convertFromStorage = "$_self.getValue()";
  let constBuilderCall =
      "::mlir::vector::CombiningKindAttr::get($_builder.getContext(), $0)";
}

def Cta_CombineOp : Cta_Op<"combine", [AllTypesMatch<["value", "result"]>]> {
  let summary = "combines the fragments of all teams, element by element";
  let description = [{
    All teams of the role meet; each gets the same result, in which the teams'
    values are combined in the order of their numbers. Teams that have divided
    what a row is reduced over, or the depth of a product, finish it so
    (`partition = split_k`). The kinds are those of floats: add, mul, minnumf,
    maxnumf, minimumf, maximumf.

    ```mlir
    %m = cta.combine <maxnumf> %x : vector<16xf32>
    ```
  }];
  let arguments = (ins Cta_CombiningKindAttr:$kind,
                       VectorOfAnyRankOf<[F32]>:$value);
  let results = (outs VectorOfAnyRankOf<[F32]>:$result);
  let assemblyFormat = "$kind $value attr-dict `:` type($value)";
  let hasVerifier = 1;
}

def Cta_FoldOp : Cta_Op<"fold", [Pure, AllTypesMatch<["acc", "result"]>]> {
  let summary = "adds a fragment's columns onto fewer";
  let description = [{
    To column c of the accumulator's n columns are added columns c, c + n,
    c + 2n and so on of the value. With n = 8 a thread has all elements of such
    a sum, so that threads need not ask each other; what is left to do for a sum
    over whole rows is `vector.multi_reduction` over the n columns.

    ```mlir
    %s = cta.fold %p onto %a : vector<64x128xf32>, vector<64x8xf32>
    ```
  }];
  let arguments = (ins VectorOfRankAndType<[2], [F32]>:$value,
                       VectorOfRankAndType<[2], [F32]>:$acc);
  let results = (outs VectorOfRankAndType<[2], [F32]>:$result);
  let assemblyFormat = [{
    $value `onto` $acc attr-dict `:` type($value) `,` type($acc)
  }];
  let hasVerifier = 1;
}

def Cta_MeetOp : Cta_Op<"meet"> {
  let summary = "all teams of the role meet";
  let description = [{
    No team goes on before all have come. What each stored to global memory
    before, all see afterwards.

    ```mlir
    cta.meet
    ```
  }];
  let assemblyFormat = "attr-dict";
  let hasVerifier = 1;
}

def Cta_AnyOp : Cta_Op<"any"> {
  let summary = "whether an element is true in any team's fragment";
  let description = [{
    All teams of the role meet, and all get the same answer, on which they may
    branch together (`scf.if`), also to what all of them have to reach.

    ```mlir
    %again = cta.any %bad : vector<64xi1>
    ```
  }];
  let arguments = (ins VectorOfAnyRankOf<[I1]>:$predicate);
  let results = (outs I1:$result);
  let assemblyFormat = "$predicate attr-dict `:` type($predicate)";
}

def Cta_LookupOp : Cta_Op<"lookup", [NoMemoryEffect]> {
  let summary = "elements of global memory, one for each element of a fragment";
  let description = [{
    Each index is a scalar, or a vector of i32 that says where each row
    (`vector<R>`), each column (`vector<1xC>`) or each element (`vector<RxC>`)
    looks; at least one is a vector. The result has the shape that holds them
    all. Every position must lie in the memref.

    The memory must not be written while the kernel runs: that is why the
    operation has no effects, and why the hardware may read it by its path for
    constants.

    ```mlir
    %v = cta.lookup %m[%b, %h, %rows, %cols] : memref<?x?x?x?xf32>, (index, index, vector<64xi32>, vector<1x128xi32>) -> vector<64x128xf32>
    ```
  }];
  let arguments = (ins AnyMemRef:$source,
                       Variadic<AnyTypeOf<[Index, I32, VectorOfAnyRankOf<[I32]>]>>:$indices);
  let results = (outs VectorOfAnyRankOf<[I32, F32, F16, BF16]>:$result);
  let assemblyFormat = [{
    $source `[` $indices `]` attr-dict `:` type($source) `,` `(` type($indices) `)` `->` type($result)
  }];
  let hasVerifier = 1;
}

class Cta_IotaOp<string mnemonic> : Cta_Op<mnemonic, [Pure]> {
  let arguments = (ins I32:$base);
  let results = (outs VectorOfAnyRankOf<[I32]>:$result);
  let assemblyFormat = "$base attr-dict `:` type($result)";
  let hasVerifier = 1;
}

def Cta_RowOp : Cta_IotaOp<"row"> {
  let summary = "the base plus each element's row";
  let description = [{
    ```mlir
    %i = cta.row %base : vector<64x128xi32>
    %r = cta.row %base : vector<64xi32>
    ```
  }];
}

def Cta_ColOp : Cta_IotaOp<"col"> {
  let summary = "the base plus each element's column";
  let description = [{
    ```mlir
    %j = cta.col %base : vector<64x128xi32>
    %c = cta.col %base : vector<1x128xi32>
    ```
  }];
}

//===----------------------------------------------------------------------===//
// Barriers
//===----------------------------------------------------------------------===//

def Cta_BarrierOp : Cta_Op<"barrier", [MemoryEffects<[MemAlloc]>]> {
  let summary = "names a number of barriers";
  let description = [{
    Stands at the top of the function.

    ```mlir
    %turn = cta.barrier : !cta.barrier<2>
    ```
  }];
  let results = (outs Cta_BarrierType:$barrier);
  let assemblyFormat = "attr-dict `:` qualified(type($barrier))";
}

class Cta_BarrierUseOp<string mnemonic> : Cta_Op<mnemonic> {
  let arguments = (ins Cta_BarrierType:$barrier, Index:$index);
  let assemblyFormat =
      "$barrier `[` $index `]` attr-dict `:` qualified(type($barrier))";
}

def Cta_SyncOp : Cta_BarrierUseOp<"sync"> {
  let summary = "arrives at a barrier and waits for the other team";
  let description = [{
    The barrier opens when two teams have come, by `cta.sync` or `cta.arrive`.

    ```mlir
    cta.sync %turn[%w] : !cta.barrier<2>
    ```
  }];
}

def Cta_ArriveOp : Cta_BarrierUseOp<"arrive"> {
  let summary = "arrives at a barrier and goes on";
  let description = [{
    Counts like `cta.sync`, but does not wait for the other team.

    ```mlir
    cta.arrive %turn[%next] : !cta.barrier<2>
    ```
  }];
}

#endif // FA_DIALECT_CTA_IR_CTAOPS_TD
