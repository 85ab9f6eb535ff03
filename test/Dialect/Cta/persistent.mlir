// Work inside of roles may be many items a block; work that starts the roles is left.
// RUN: fa-opt %s --persistent --verify-diagnostics | FileCheck %s --check-prefixes=CHECK,STATIC
// RUN: fa-opt %s --persistent="dynamic=true group-bytes=4096" 2>/dev/null | FileCheck %s --check-prefixes=CHECK,DYNAMIC

// RUN: not fa-opt %s --persistent=group-bytes=-1 2>&1 | FileCheck %s --check-prefix=BYTES
// BYTES: error: expects group-bytes of at least 0, but found -1

gpu.module @kernels {
  // CHECK-LABEL: gpu.func @roles
  // STATIC: cta.role "load"
  // STATIC: cta.work {{.*}} order(#cta.order<balanced, persistent = static>)
  // STATIC: cta.role "compute"
  // STATIC: cta.work {{.*}} order(#cta.order<balanced, persistent = static>)
  // DYNAMIC-COUNT-2: order(#cta.order<lpt, group_bytes = 1024, persistent = dynamic>)
  gpu.func @roles(%n: index) kernel {
    cta.role "load" teams(%w in 1) warps(4) {
      cta.work (%b) in (%n) order(#cta.order<lpt, group_bytes = 1024>) {
      }
    }
    cta.role "compute" teams(%w in 2) warps(4) {
      cta.work (%b) in (%n) order(#cta.order<lpt, group_bytes = 1024>) {
      }
    }
    gpu.return
  }

  // Items of unequal length come in equal shares, or in groups where they are
  // handed out.
  // CHECK-LABEL: gpu.func @groups
  // STATIC: order(#cta.order<balanced, persistent = static>)
  // STATIC: order(#cta.order<natural, persistent = static>)
  // DYNAMIC: order(#cta.order<lpt, group_bytes = 4096, persistent = dynamic>)
  gpu.func @groups(%n: index) kernel {
    cta.role "load" teams(%w in 1) warps(4) {
      cta.work (%b) in (%n) order(#cta.order<lpt>) {
      }
    }
    cta.role "compute" teams(%w in 2) warps(4) {
      cta.work (%b) in (%n) order(#cta.order<natural>) {
      }
    }
    gpu.return
  }

  // CHECK-LABEL: gpu.func @one_role
  // CHECK: order(#cta.order<natural>)
  gpu.func @one_role(%n: index) kernel {
    // expected-warning @below {{persistent leaves 'one_role': its work starts the roles (run --specialize-warps first)}}
    cta.work (%b) in (%n) order(#cta.order<natural>) {
      cta.role "all" teams(%w in 2) warps(4) {
      }
    }
    gpu.return
  }

  // expected-warning @below {{persistent finds no cta.work in 'no_work'}}
  gpu.func @no_work(%n: index) kernel {
    gpu.return
  }
}
