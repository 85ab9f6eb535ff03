//===- Passes.td - Passes on the cta dialect ---------------*- tablegen -*-===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Passes that change how tiles are staged in shared memory.
//
//===----------------------------------------------------------------------===//

#ifndef FA_DIALECT_CTA_TRANSFORMS_PASSES_TD
#define FA_DIALECT_CTA_TRANSFORMS_PASSES_TD

include "mlir/Pass/PassBase.td"

def StageTiles : Pass<"stage-tiles"> {
  let summary = "Turns the shared loads of loops into rings of stages";
  let description = [{
    Level D to D. Each `cta.load once` in a loop becomes acquire and copy at the
    same place, a consume before the tile's first use (so that copies overlap
    what comes before it), and a release after its last use has been waited for.
    Loads of one tensor with one tile type share a ring, so that the loops over
    full and over partial blocks do.

    Before:
    ```mlir
    %k = cta.load once %K[%b, %h, %j, %c0] : memref<?x?x?x64xbf16> -> !kt
    %f = cta.mma %q, transpose %k : !qt, !kt -> !cta.flight<64x64xf32>
    %s = cta.wait %f : !cta.flight<64x64xf32>
    ```
    After:
    ```mlir
    %e = cta.acquire %ring : !cta.ring<2, !kt>
    cta.copy %K[%b, %h, %j, %c0] to %e : memref<?x?x?x64xbf16>, !kt
    %k = cta.consume %ring : !cta.ring<2, !kt>
    %f = cta.mma %q, transpose %k : !qt, !kt -> !cta.flight<64x64xf32>
    %s = cta.wait %f : !cta.flight<64x64xf32>
    cta.release %k : !kt
    ```
  }];
  let options = [Option<"stages", "stages", "int64_t", /*default=*/"0",
                        "Stages of each ring (0: the function's attribute "
                        "cta.stages, or 2)">];
  let statistics = [Statistic<"numRings", "rings", "Rings allocated">,
                    Statistic<"numLoads", "loads", "Loads staged">];
  let dependentDialects = ["::fa::cta::CtaDialect"];
}

def StageLookups : Pass<"stage-lookups"> {
  let summary = "Reads matrices of a score function by tiles in shared memory";
  let description = [{
    Level D to D. A `cta.lookup` in a loop at the rows and the columns of a block
    of scores, of one matrix of an argument (a bias for each query and key), is
    a tile of the matrix: each team loads it (`cta.load each`), behind the
    block's first load, and reads its fragment from it. The passes that follow
    make a ring of stages of it as of the tiles that products read: copies are
    under way while teams compute, and the registers of loads ahead are free.

    The ring has one stage (`cta.stages` on the load): a tile is read, and its
    stage free, long before the next block's scores are there.

    Positions may be cut by the last row of q and of k, as --pad-tiles leaves
    them: the tile's rows and columns past those hold something else, which
    nobody uses. Left as they are: lookups by rows or columns alone, at other
    positions (gathers, differences of rows and columns), of integers.

    A kernel then needs the matrix in rows that tensor maps take: its address and
    its strides are multiples of 16 bytes.

    Before:
    ```mlir
    %k = cta.load once %K[%b, %h, %j, %c0] : memref<?x?x?x64xbf16> -> !kt
    ...
    %rows = arith.minsi %row, %lastRow : vector<64xi32>
    %e = cta.lookup %bias[%h, %rows, %cols] : memref<?x?x?xf32>, (index, vector<64xi32>, vector<1x64xi32>) -> vector<64x64xf32>
    ```
    After:
    ```mlir
    %k = cta.load once %K[%b, %h, %j, %c0] : memref<?x?x?x64xbf16> -> !kt
    %t = cta.load each %bias[%h, %i, %j] {cta.stages = 1} : memref<?x?x?xf32> -> !cta.tile<64x64xf32, swizzle = 128>
    ...
    %e = cta.read %t : !cta.tile<64x64xf32, swizzle = 128> -> vector<64x64xf32>
    ```
  }];
  let statistics = [Statistic<"numLookups", "lookups", "Lookups staged">];
  let dependentDialects = ["::fa::cta::CtaDialect",
                           "::mlir::arith::ArithDialect"];
}

def DeferRedo : Pass<"defer-redo"> {
  let summary = "Does the items again that need it after all others";
  let description = [{
    Level D to D. Where all teams ask each other whether a tile must be done
    again (`cta.any`, which `rescale=first-max` leaves behind the loops), and
    branch, a role that only loads could not follow. Here the role gets two
    works instead of the branch: the first goes on as if nothing had to be done
    again, and marks the item where something has; the second, which is marked,
    does those items from the beginning as if everything had to, without what
    only the first one needs. Both roles that --specialize-warps makes of this
    run both works. Nobody waits between two items: teams wait once, between the
    works.

    What an item stores is stored by both; the second comes later. Kernels
    without `cta.any` are left as they are. Refused: a question that is not
    asked in the role itself, or does not decide one branch; programs with rings
    (run it before --stage-tiles).

    Before:
    ```mlir
    cta.work (%b) in (%n) order(#cta.order<natural>) {
      cta.role "all" teams(%w in 2) warps(4) {
        %fast:3 = scf.for ... { ... }
        %any = cta.any %bad : vector<64xi1>
        %r:3 = scf.if %any -> (...) {
          %exact:3 = scf.for ... { ... }
          scf.yield %exact#0, %exact#1, %exact#2 : ...
        } else {
          scf.yield %fast#0, %fast#1, %fast#2 : ...
        }
        ... cta.store %o ... of %r ...
      }
    }
    ```
    After:
    ```mlir
    cta.role "all" teams(%w in 2) warps(4) {
      cta.work (%b) in (%n) order(#cta.order<natural>) {
        %fast:3 = scf.for ... { ... }
        cta.mark %bad : vector<64xi1>
        ... cta.store %o ... of %fast ...
      }
      cta.work marked (%b) in (%n) order(#cta.order<natural>) {
        %exact:3 = scf.for ... { ... }
        ... cta.store %o ... of %exact ...
      }
    }
    ```
  }];
  let statistics = [Statistic<"numKernels", "kernels",
                              "Kernels with two works">];
  let dependentDialects = ["::fa::cta::CtaDialect"];
}

def FoldFactors : Pass<"fold-factors"> {
  let summary = "Multiplies uniform factors with one another first";
  let description = [{
    Level D to D. A factor that is the same for all elements of a fragment
    (the scale, a softcap's limit, log2(e)) multiplies the next such factor, once,
    instead of all elements once more: in products of products, and in fused
    multiply-adds of products. A product that only a branch still reads
    (`cta.if_any`, the rare maximum of `rescale=first-max`) moves into it.

    Only what may be reassociated is: operations with `fastmath<reassoc>`, as
    the inlined products of score regions are, and the exponent of their
    results. Each element is rounded once less; the factors' product is off by
    2^-24 of itself.

    Before:
    ```mlir
    %a = arith.mulf %s, %scales fastmath<reassoc> : vector<64x128xf32>    // broadcast of %scale
    %x = arith.mulf %a, %inverse fastmath<reassoc> : vector<64x128xf32>   // dense<0.02>
    %t = math.tanh %x : vector<64x128xf32>
    %y = arith.mulf %t, %cap fastmath<reassoc> : vector<64x128xf32>       // dense<50.0>
    %e = math.fma %y, %log2e, %m fastmath<reassoc> : vector<64x128xf32>
    ```
    After:
    ```mlir
    %f = arith.mulf %scale, %c : f32                                      // 0.02
    %fs = vector.broadcast %f : f32 to vector<64x128xf32>
    %x = arith.mulf %s, %fs fastmath<reassoc> : vector<64x128xf32>
    %t = math.tanh %x : vector<64x128xf32>
    %e = math.fma %t, %both, %m fastmath<reassoc> : vector<64x128xf32>    // dense<72.13>
    ```
  }];
  let statistics = [Statistic<"numFactors", "factors",
                              "Products of all elements that are no more">];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::vector::VectorDialect"];
}

def FoldSums : Pass<"fold-sums"> {
  let summary = "Keeps row sums in parts until a loop's end";
  let description = [{
    Level D to D. A row vector that a loop carries, and that its body does
    nothing with but add the sums of a fragment's rows, is carried as sums of 8
    columns instead (`cta.fold`). Threads have those for themselves; to sum up
    rows they must ask each other, which they do once behind the loop, or behind
    the last of several loops that go on with the sum. Sums that a block rescales
    (`rescale=always`, `lazy`) are left as they are.

    Before:
    ```mlir
    %r = scf.for %j = %lo to %hi step %c128 iter_args(%l = %zero) -> (vector<64xf32>) {
      ...
      %s = vector.multi_reduction <add>, %p, %l [1] : vector<64x128xf32> to vector<64xf32>
      scf.yield %s : vector<64xf32>
    }
    ```
    After:
    ```mlir
    %parts = scf.for %j = %lo to %hi step %c128 iter_args(%l = %zeros) -> (vector<64x8xf32>) {
      ...
      %s = cta.fold %p onto %l : vector<64x128xf32>, vector<64x8xf32>
      scf.yield %s : vector<64x8xf32>
    }
    %r = vector.multi_reduction <add>, %parts, %zero [1] : vector<64x8xf32> to vector<64xf32>
    ```
  }];
  let statistics = [Statistic<"numSums", "sums", "Sums kept in parts">];
  let dependentDialects = ["::fa::cta::CtaDialect",
                           "::mlir::arith::ArithDialect",
                           "::mlir::vector::VectorDialect"];
}

def Prefetch : Pass<"prefetch"> {
  let summary = "Starts the copies of a block before the block that needs it";
  let description = [{
    Level D to D. In a chain of loops over the same rings, where each loop begins
    where the one before ends, an acquire and its copy are moved to where their stage has
    just become free. Where the loop's body consumes another ring after it
    released this one, that is in the same block: with n stages, block k + n is
    copied in block k, after that consume, which all threads meet at anyway; or,
    into an only stage, right after the release, unless fragments leave no
    registers for the copy's addresses. Otherwise it is after the body's first
    consume, for block k + n - 1.

    The first blocks are copied before the chain, and loads that only the chain
    needs are moved below them, so that all are under way together. Blocks past
    the chain's end are copied from rows past the memref's end, which read as 0
    and touch no memory, and are drained after the chain, so that acquires and
    releases stay balanced.

    Before:
    ```mlir
    scf.for %j = %lo to %hi step %c64 {
      %ke = cta.acquire %kr : !ring
      cta.copy %K[%j, %c0] to %ke : memref<?x64xbf16>, !tile
      %ve = cta.acquire %vr : !ring
      cta.copy %V[%j, %c0] to %ve : memref<?x64xbf16>, !tile
      %k = cta.consume %kr : !ring
      ... cta.release %k ...
      %v = cta.consume %vr : !ring
      ... cta.release %v ...
    }
    ```
    After, with rings of one stage:
    ```mlir
    %e = cta.acquire %kr : !ring
    cta.copy %K[%lo, %c0] to %e : memref<?x64xbf16>, !tile
    scf.for %j = %lo to %hi step %c64 {
      %k = cta.consume %kr : !ring
      %ve = cta.acquire %vr : !ring
      cta.copy %V[%j, %c0] to %ve : memref<?x64xbf16>, !tile
      ... cta.release %k ...
      %ke = cta.acquire %kr : !ring
      cta.copy %K[%next, %c0] to %ke : memref<?x64xbf16>, !tile
      %v = cta.consume %vr : !ring
      ... cta.release %v ...
    }
    %d = cta.consume %kr : !ring
    cta.release %d : !tile
    ```
  }];
  let statistics = [Statistic<"numChains", "chains", "Loop chains skewed">,
                    Statistic<"numCopies", "copies", "Copies moved ahead">];
  let dependentDialects = ["::fa::cta::CtaDialect",
                           "::mlir::arith::ArithDialect",
                           "::mlir::memref::MemRefDialect"];
}

def SpecializeWarps : Pass<"specialize-warps"> {
  let summary = "Gives loading to a role of its own";
  let description = [{
    Level D to D. A role of n teams of four warps becomes two: "load", one team
    that acquires and copies, with the loops, branches and scalars that this
    needs (those that read tables first, so that no copy waits for them); and
    "compute", the n teams with everything else. Both run all work items, in the
    same order, so that each ring is filled in the order in which it is read.

    Loads that --stage-tiles left become rings: of one stage outside of loops,
    and each team's own (`each`) where every team loads its own tile. The loading
    role fills those for one team after the other. A role that holds several
    works (--defer-redo) is divided with all of them, and loads of one tile in
    several works share a ring.

    Registers move from the loading role to the computing one (`setmaxnreg`).
    The budgets are within what the launch gives all threads: for two teams 24
    and 240, for three 32 and 160; where tiles are cut off at their rows' ends
    (`until`), which the loading role does row by row, 40 and 232. More would
    hang, and is refused.

    Refused: copies whose place depends on fragments or on values that loops
    carry, copies into a shared ring that differ from team to team, and teams
    of another size.

    Before:
    ```mlir
    cta.work (%b) in (%n) order(#cta.order<natural>) {
      cta.role "all" teams(%w in 2) warps(4) {
        %q = cta.load each %Q[%i, %c0] : memref<?x64xbf16> -> !qt
        scf.for %j = %c0 to %hi step %c64 {
          %e = cta.acquire %kr : !ring
          cta.copy %K[%j, %c0] to %e : memref<?x64xbf16>, !kt
          %k = cta.consume %kr : !ring
          ... cta.release %k ...
        }
      }
    }
    ```
    After:
    ```mlir
    %qr = cta.ring each(2) : !cta.ring<1, !qt>
    cta.role "load" teams(%w in 1) warps(4) regs(24) {
      cta.work (%b) in (%n) order(#cta.order<natural>) {
        %q0 = cta.acquire %qr[%c0] : !cta.ring<1, !qt>
        cta.copy %Q[%i0, %c0] to %q0 : memref<?x64xbf16>, !qt
        %q1 = cta.acquire %qr[%c1] : !cta.ring<1, !qt>
        cta.copy %Q[%i1, %c0] to %q1 : memref<?x64xbf16>, !qt
        scf.for %j = %c0 to %hi step %c64 {
          %e = cta.acquire %kr : !ring
          cta.copy %K[%j, %c0] to %e : memref<?x64xbf16>, !kt
        }
      }
    }
    cta.role "compute" teams(%w in 2) warps(4) regs(240) {
      cta.work (%b) in (%n) order(#cta.order<natural>) {
        %q = cta.consume %qr : !cta.ring<1, !qt>
        scf.for %j = %c0 to %hi step %c64 {
          %k = cta.consume %kr : !ring
          ... cta.release %k ...
        }
        cta.release %q : !qt
      }
    }
    ```
  }];
  let options = [Option<"loadRegs", "load-regs", "int64_t", /*default=*/"0",
                        "Registers of a thread that loads (0: by the number "
                        "of teams and what they load)">,
                 Option<"computeRegs", "compute-regs", "int64_t",
                        /*default=*/"0",
                        "Registers of a thread that computes (0: by the number "
                        "of teams and what they load)">];
  let statistics = [Statistic<"numKernels", "kernels", "Kernels divided">];
  let dependentDialects = ["::fa::cta::CtaDialect",
                           "::mlir::arith::ArithDialect",
                           "::mlir::scf::SCFDialect"];
}

def TrimTeams : Pass<"trim-teams"> {
  let summary = "Ends each team's loop where its own rows see no more keys";
  let description = [{
    Level D to D. The rows of a thread block are divided among teams, and under a
    causal mask the first team's see less than the last one's. A loop over partly
    hidden blocks (`cta.partial`) whose mask is "column <= limit of the row", by
    itself or with other conditions, ends for each team with the last block that
    its own last row sees, but not before the first block. The stages of the
    blocks after that are waited for and given back in a loop of their own, since
    the loading role fills them for the other teams.

    Loops whose blocks hold a multiple of the thread block's rows are left: there
    every team sees part of the last block. So are limits that may fall from row
    to row. With 128 rows and 64 keys, causal, it saves one of n + 1 blocks for
    the first of two teams, where the thread block sees n.

    Before:
    ```mlir
    cta.role "compute" teams(%w in 2) warps(4) regs(240) {
      ...
      scf.for %j = %full to %end step %c64 ... {
        %k = cta.consume %ks ... cta.release %k
        %x = arith.select %visible, %s, %hidden ...
        %v = cta.consume %vs ... cta.release %v
      } {cta.partial}
    ```
    After:
    ```mlir
      %own = arith.minsi %ownEnd, %end : index      // of this team's last row
      scf.for %j = %full to %own step %c64 ... { ... } {cta.partial}
      scf.for %j = %own to %end step %c64 {
        %k = cta.consume %ks
        cta.release %k
        %v = cta.consume %vs
        cta.release %v
      }
    ```
  }];
  let statistics = [Statistic<"numLoops", "loops", "Loops trimmed">];
  let dependentDialects = ["::fa::cta::CtaDialect",
                           "::mlir::arith::ArithDialect",
                           "::mlir::scf::SCFDialect"];
}

def OverlapSoftmax : Pass<"overlap-softmax"> {
  let summary = "Puts the next block's first product under this block's "
                "arithmetic";
  let description = [{
    Level D to D. In a loop whose body has two products, of which the second
    reads a fragment that is made from the first (attention: Q K^T, softmax,
    P V), the second runs one block late. The tensor cores then work on both
    while the arithmetic of the first one's result is done.

    - The loop carries the fragment (P) and the rescaled accumulator.
    - What makes the fragment's 16-bit form, and what works on the accumulator
      (also in a `cta.if_any`), follows the second product's wait: a product in
      flight reads the one and writes the other.
    - Reads of memory that do not depend on the first product (`cta.lookup` of a
      bias) come before its wait, and are under way with it.
    - The pipeline goes on through loops that follow one another (full blocks
      without a mask, partial ones with it). The first block of all, in
      whichever loop it is, stands before them, and the last block's second
      product after them; both only where there is a block.
    - What only first products read (Q) is released before the last second one.

    A ring is still read in the order in which it is filled, since the two
    products read different ones. Left as they are, with a warning: loops that
    copy themselves, read both tiles from one ring, or use the second product
    within the block.

    Before:
    ```mlir
    %r:2 = scf.for %j = %lo to %hi step %c64 iter_args(%a = %z, %m = %m0) -> (!s, !row) {
      %k = cta.consume %kr : !ring
      %sf = cta.mma %q, transpose %k : !qt, !kt -> !sf
      %s = cta.wait %sf : !sf
      cta.release %k : !kt
      ... %p, %alpha, %mn of %s and %m ...
      %b = arith.mulf %a, %alpha : !s
      %pb = arith.truncf %p : !s to !sp
      %v = cta.consume %vr : !ring
      %of = cta.mma %pb, %v into %b : !sp, !kt -> !sf
      %o = cta.wait %of : !sf
      cta.release %v : !kt
      scf.yield %o, %mn : !s, !row
    }
    cta.release %q : !qt
    ```
    After:
    ```mlir
    %any = arith.cmpi slt, %lo, %hi : index
    %f:3 = scf.if %any -> (!s, !row, !sp) { ... first block: %b, %mn, %pb ... }
    %second = arith.addi %lo, %c64 : index
    %r:3 = scf.for %j = %second to %hi step %c64 iter_args(%b = %f#0, %m = %f#1, %pb = %f#2) -> (!s, !row, !sp) {
      %k = cta.consume %kr : !ring
      %sf = cta.mma %q, transpose %k : !qt, !kt -> !sf
      %v = cta.consume %vr : !ring
      %of = cta.mma %pb, %v into %b : !sp, !kt -> !sf
      %s = cta.wait %sf pending 1 : !sf
      cta.release %k : !kt
      ... %p, %alpha, %mn of %s and %m ...
      %o = cta.wait %of : !sf
      cta.release %v : !kt
      %bn = arith.mulf %o, %alpha : !s
      %pn = arith.truncf %p : !s to !sp
      scf.yield %bn, %mn, %pn : !s, !row, !sp
    }
    cta.release %q : !qt
    %o = scf.if %any -> (!s) { ... last P V ... }
    ```
  }];
  let statistics = [Statistic<"numChains", "chains", "Loop chains pipelined">];
  let dependentDialects = ["::fa::cta::CtaDialect",
                           "::mlir::arith::ArithDialect",
                           "::mlir::scf::SCFDialect"];
}

def PingPong : Pass<"ping-pong"> {
  let summary = "Lets teams take turns on the tensor cores";
  let description = [{
    Level D to D. In roles of several teams, the products of a loop's body that
    are started without a wait between them are one turn: a team waits for its
    turn before the first of them, and gives the turn to the next team after the
    last. While one team's products run, the others do arithmetic.

    Team w waits at barrier w of as many as there are teams. The last team gives
    the first turn before all work, and team 0 takes the one that is left after
    it, so that barriers are closed at the end. Teams must have the same number
    of turns: left as they are, with a warning, are roles in which a loop's range
    or a branch around it depends on the team.

    Before:
    ```mlir
    cta.role "compute" teams(%w in 2) warps(4) regs(240) {
      cta.work (%b) in (%n) order(#cta.order<natural>) {
        scf.for %j = %lo to %hi step %c64 iter_args(...) {
          %sf = cta.mma %q, transpose %k : !qt, !kt -> !sf
          %of = cta.mma %p, %v into %a : !sp, !kt -> !sf
    ```
    After:
    ```mlir
    %turn = cta.barrier : !cta.barrier<2>
    cta.role "compute" teams(%w in 2) warps(4) regs(240) {
      scf.if %isLast { cta.arrive %turn[%c0] : !cta.barrier<2> }
      cta.work (%b) in (%n) order(#cta.order<natural>) {
        scf.for %j = %lo to %hi step %c64 iter_args(...) {
          cta.sync %turn[%w] : !cta.barrier<2>
          %sf = cta.mma %q, transpose %k : !qt, !kt -> !sf
          %of = cta.mma %p, %v into %a : !sp, !kt -> !sf
          cta.arrive %turn[%next] : !cta.barrier<2>
    ...
      scf.if %isFirst { cta.sync %turn[%c0] : !cta.barrier<2> }
    }
    ```
  }];
  let statistics = [Statistic<"numTurns", "turns", "Places with turns">];
  let dependentDialects = ["::fa::cta::CtaDialect",
                           "::mlir::arith::ArithDialect",
                           "::mlir::scf::SCFDialect"];
}

def Persistent : Pass<"persistent"> {
  let summary = "Lets a thread block run many work items";
  let description = [{
    Level D to D. The grid becomes as large as the GPU, and each block runs many
    work items, in both roles the same, one after the other; so what a block
    needs once is done once, and the loading role is ahead of the computing one
    from item to item. Which items are a block's is known before
    (`scheduler=static`), or they go to whichever block is free (`dynamic`).
    Where they differ in length, static blocks get equal shares (`balanced`),
    which leaves `dynamic` nothing to gain where lengths grow with the row; where
    an item's sequence is searched in a table by its number, pairs of neighbours
    (`paired`, for which `--flatten-sequences=pairs` numbers them); where lists of
    blocks say how long items are, or heads are large beside the cache, the pairs
    of one head after the other (`mirrored`). Dynamic ones get the longest first
    in groups of heads whose keys and values fit the cache, unless the order has
    groups already.

    `auto` is `dynamic` where memory says how long items are, which no formula
    shares out equally: with lists of blocks, and where an item's sequence is
    searched. The longest share of four documents of random lengths is 1.18 to
    1.3 of the mean by pairs and 1.01 to 1.06 so; that of packed sequences 1.02 to
    1.2 and 1.00 to 1.02. It costs two words of memory that are 0 when the
    launch begins, and registers of the loading role, which takes them from the
    others.

    Rings of one stage that are filled once an item (Q) get a second stage, as
    far as shared memory goes: the loading role fills it while the item before
    is still computed. Where there is no room, the first tile of the loop over
    blocks (K) is loaded before them: the item before holds the one stage of Q
    until its last block, but has left a stage of K by then.

    The work must stand inside of the roles, as --specialize-warps leaves it:
    else roles would have to be started again for each item. Other kernels are
    left, with a warning.

    Before:
    ```mlir
    cta.role "compute" teams(%w in 2) warps(4) regs(240) {
      cta.work (%b) in (%n) order(#cta.order<lpt>) { ... }
    ```
    After:
    ```mlir
    cta.role "compute" teams(%w in 2) warps(4) regs(240) {
      cta.work (%b) in (%n) order(#cta.order<balanced, persistent = static>) { ... }
    ```
  }];
  let options = [Option<"scheduler", "scheduler", "std::string",
                        /*default=*/"\"auto\"",
                        "Which block runs which items: static (known before), "
                        "dynamic (whichever is free), or auto (dynamic where "
                        "memory says how long items are)">,
                 Option<"groupBytes", "group-bytes", "int64_t",
                        /*default=*/"33554432",
                        "What a group of heads reads again and again, at most, "
                        "where items are handed out; 0 makes no groups">,
                 // 8 and 12 to 16% at D 192 and 256, rows of 512 and 1024; at
                 // D 128 it costs 2% from 2048 rows on (docs/perf-log.md).
                 Option<"mirrorBytes", "mirror-bytes", "int64_t",
                        /*default=*/"640",
                        "The bytes of a key's and a value's row from which "
                        "shares are of one head after the other">,
                 Option<"sharedBytes", "shared-bytes", "int64_t",
                        /*default=*/"232448",
                        "Shared memory of a thread block, of which rings may "
                        "take what is left for a second stage">,
                 Option<"tilesFirst", "tiles-first", "bool", /*default=*/"true",
                        "Load the first tile of a loop before what has one "
                        "stage and is loaded once an item">];
  let statistics = [Statistic<"numKernels", "kernels",
                              "Kernels made persistent">,
                    Statistic<"numRings", "rings",
                              "Rings with a stage for the next item">,
                    Statistic<"numTilesFirst", "tiles-first",
                              "Works that load a loop's first tile first">];
  let dependentDialects = ["::fa::cta::CtaDialect"];
}

def OverlapTiles : Pass<"overlap-tiles"> {
  let summary = "Starts the next item's first product with this item's last one";
  let description = [{
    Level D to D. A team that goes through many items (--persistent) ends each
    with its last block's second product, which --overlap-softmax put behind the
    loops, divides, stores, and begins the next one with a first product and a
    softmax that nothing is beside: the tensor cores wait twice an item. Here an
    item leaves its end to the next one. The work carries the accumulator, the
    late product's operand and what the result is made and stored by (`iter_args`),
    and the next item starts its first product and the late one together, as loops
    do; while they run it does its own first block's arithmetic. Then it stores the
    item before, and only then makes its own accumulator, which takes the same
    registers. What the last item leaves is done behind the work.

    An item without a block, and a first item, have nothing beside them: the
    branches for those are what stood there before, and the late product by
    itself. What does not depend on the late product stays in its item: log-sum-exp
    is stored, and items are marked (--defer-redo), where they were. Where a team
    gives back stages that others still read (--trim-teams), its late product is
    done in front of that, in its own item, since stages are read in one order.

    The next item's queries are read while this item's last block is computed, so
    that their ring needs two stages, which --persistent gives it where shared
    memory has room. Other kernels, and those whose items do not begin and end as
    --overlap-softmax leaves them, stay as they are; a remark says why.

    Before:
    ```mlir
    cta.work (%i) in (%n) order(#cta.order<natural, persistent = static>) {
      %q = cta.consume %qr : !cta.ring<2, !qt>
      %f:3 = scf.if %any -> (!s, !row, !sp) {
        %k = cta.consume %kr : !ring
        %sf = cta.mma %q, transpose %k : !qt, !kt -> !sf
        %s = cta.wait %sf : !sf
        cta.release %k : !kt
        ... %p, %l of %s ...
        scf.yield %zero, %l, %p : !s, !row, !sp
      } else { ... }
      %r:3 = scf.for ... iter_args(%a = %f#0, %m = %f#1, %pb = %f#2) { ... }
      cta.release %q : !qt
      %o = scf.if %any -> (!s) {
        %v = cta.consume %vr : !ring
        %of = cta.mma %r#2, %v into %r#0 : !sp, !kt -> !sf
        %w = cta.wait %of : !sf
        cta.release %v : !kt
        scf.yield %w : !s
      } else { scf.yield %r#0 : !s }
      ... cta.store %o times %inverse at %i ...
    }
    ```
    After:
    ```mlir
    %e:6 = cta.work (%i) in (%n) order(#cta.order<natural, persistent = static>)
        iter_args(%a0 = %zero, %p0 = %none, %inv0 = %row, %i0 = %c0, %late = %false, %item = %false) -> (...) {
      %q = cta.consume %qr : !cta.ring<2, !qt>
      %f:3 = scf.if %late -> (!s, !row, !sp) {
        %g:3 = scf.if %any -> (!s, !row, !sp) {
          %k = cta.consume %kr : !ring
          %sf = cta.mma %q, transpose %k : !qt, !kt -> !sf
          %v = cta.consume %vr : !ring
          %of = cta.mma %p0, %v into %a0 : !sp, !kt -> !sf
          %s = cta.wait %sf pending 1 : !sf
          cta.release %k : !kt
          ... %l of %s ...
          %o = cta.wait %of : !sf
          cta.release %v : !kt
          ... %p ...
          ... cta.store %o times %inv0 at %i0 ...
          scf.yield %zero, %l, %p : !s, !row, !sp
        } else { ... the late product alone, and the stores ... }
        scf.yield %g#0, %g#1, %g#2 : !s, !row, !sp
      } else {
        scf.if %item { ... cta.store %a0 times %inv0 at %i0 ... }
        ... the first block alone ...
      }
      %r:3 = scf.for ... { ... }
      cta.release %q : !qt
      cta.yield %r#0, %r#2, %inverse, %i, %any, %true : ...
    }
    ... the late product and the stores of %e, if they are left ...
    ```
  }];
  let statistics = [Statistic<"numWorks", "works",
                              "Works whose items end in the next">];
  let dependentDialects = ["::fa::cta::CtaDialect",
                           "::mlir::arith::ArithDialect",
                           "::mlir::scf::SCFDialect"];
}

def UnrollStages : Pass<"unroll-stages"> {
  let summary = "Unrolls loops over rings by the rings' stages";
  let description = [{
    Level D to D. A loop that takes a stage of each ring in a block is unrolled
    by the number of stages, with a loop for the rest behind it. A round of the
    unrolled loop ends at the stage where it began, so that a block's stage does
    not change from round to round: its addresses are made once, before the
    loop, and no counter is divided in it.

    Of loops in one region that take stages of the same rings, only those with
    the shortest body are unrolled: those with a longer one are the few partial
    blocks, and would only fill the instruction cache. Rings of one stage leave
    nothing to do.

    Before:
    ```mlir
    scf.for %j = %lo to %hi step %c64 {
      %k = cta.consume %r : !cta.ring<2, !kt>
      ... cta.release %k : !kt
    }
    ```
    After:
    ```mlir
    scf.for %j = %lo to %mid step %c128 {
      %k0 = cta.consume %r : !cta.ring<2, !kt>
      ... cta.release %k0 : !kt
      %k1 = cta.consume %r : !cta.ring<2, !kt>
      ... cta.release %k1 : !kt
    }
    scf.for %j = %mid to %hi step %c64 {
      %k = cta.consume %r : !cta.ring<2, !kt>
      ... cta.release %k : !kt
    }
    ```
  }];
  let statistics = [Statistic<"numLoops", "loops", "Loops unrolled">];
  let dependentDialects = ["::fa::cta::CtaDialect",
                           "::mlir::arith::ArithDialect",
                           "::mlir::scf::SCFDialect"];
}

#endif // FA_DIALECT_CTA_TRANSFORMS_PASSES_TD
