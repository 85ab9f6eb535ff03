// Marked items are done again, after all others; whoever waits for marks that nobody sets any more is told.

// RUN: fa-run %s --on=sim --sim-kernel=again --arg=1=5 | FileCheck %s --check-prefix=AGAIN
// RUN: fa-run %s --on=sim --sim-kernel=again --arg=1=5 --sim-blocks=2 --sim-seed=3 | FileCheck %s --check-prefix=AGAIN
// Items 0 and 1 stay 1, and those from 2 on are 2 the second time.
// AGAIN: argument 0 shape 80, sum of finite elements 128, first 1, 1, 1, 1

!row = vector<16xf32>

gpu.module @kernels {
  gpu.func @again(%O: memref<80xf32>, %n: index) kernel {
    %c2 = arith.constant 2 : index
    %c16 = arith.constant 16 : index
    %one = arith.constant dense<1.0> : !row
    %two = arith.constant dense<2.0> : !row
    cta.role "compute" teams(%w in 1) warps(1) {
      cta.work (%b) in (%n) order(#cta.order<natural, persistent = static>) {
        %i = arith.muli %b, %c16 : index
        %late = arith.cmpi uge, %b, %c2 : index
        %flags = vector.broadcast %late : i1 to vector<16xi1>
        cta.mark %flags : vector<16xi1>
        cta.store %one, %O[%i] : !row, memref<80xf32>
      }
      cta.work marked (%b) in (%n) order(#cta.order<natural, persistent = static>) {
        %i = arith.muli %b, %c16 : index
        cta.store %two, %O[%i] : !row, memref<80xf32>
      }
    }
    gpu.return
  }

  // RUN: not fa-run %s --on=sim --sim-kernel=crossed 2>&1 | FileCheck %s --check-prefix=CROSSED
  // CROSSED: error: block 0, team 0 of "load": 'cta.work' waits forever for team 0 of "compute" to end the items before (deadlock)
  gpu.func @crossed(%n: index) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %turn = cta.barrier : !cta.barrier<1>
    %flags = arith.constant dense<true> : vector<16xi1>
    cta.role "load" teams(%w in 1) warps(1) {
      cta.work (%b) in (%c1) order(#cta.order<natural>) {
      }
      cta.work marked (%b) in (%c1) order(#cta.order<natural>) {
      }
      cta.sync %turn[%c0] : !cta.barrier<1>
    }
    cta.role "compute" teams(%w in 1) warps(1) {
      cta.work (%b) in (%c1) order(#cta.order<natural>) {
        cta.mark %flags : vector<16xi1>
        cta.sync %turn[%c0] : !cta.barrier<1>
      }
      cta.work marked (%b) in (%c1) order(#cta.order<natural>) {
      }
    }
    gpu.return
  }

  // RUN: not fa-run %s --on=sim --sim-kernel=alone 2>&1 | FileCheck %s --check-prefix=ALONE
  // ALONE: error: block 0: 'cta.any' is not reached by all teams of its role: team 1 of "all" has ended
  gpu.func @alone(%n: index) kernel {
    %c0 = arith.constant 0 : index
    %flags = arith.constant dense<true> : vector<16xi1>
    cta.role "all" teams(%w in 2) warps(1) {
      %isFirst = arith.cmpi eq, %w, %c0 : index
      scf.if %isFirst {
        %any = cta.any %flags : vector<16xi1>
      }
    }
    gpu.return
  }

  // One team's flag is all teams' answer.
  // RUN: fa-run %s --on=sim --sim-kernel=answer | FileCheck %s --check-prefix=ANSWER
  // ANSWER: argument 0 shape 32, sum of finite elements 32, first 1, 1, 1, 1
  gpu.func @answer(%O: memref<32xf32>) kernel {
    %c1 = arith.constant 1 : index
    %c16 = arith.constant 16 : index
    cta.role "all" teams(%w in 2) warps(1) {
      %i = arith.muli %w, %c16 : index
      %isLast = arith.cmpi eq, %w, %c1 : index
      %flags = vector.broadcast %isLast : i1 to vector<16xi1>
      %any = cta.any %flags : vector<16xi1>
      %answer = arith.uitofp %any : i1 to f32
      %row = vector.broadcast %answer : f32 to !row
      cta.store %row, %O[%i] : !row, memref<32xf32>
    }
    gpu.return
  }
}
