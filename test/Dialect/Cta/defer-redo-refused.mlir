// RUN: fa-opt %s --split-input-file --verify-diagnostics --defer-redo

!s = vector<64xi1>

gpu.module @kernels {
  gpu.func @in_branch(%bad: i1, %n: index) kernel {
    cta.work (%b) in (%n) order(#cta.order<natural>) {
      cta.role "all" teams(%w in 2) warps(4) {
        %flags = vector.broadcast %bad : i1 to !s
        scf.if %bad {
          // expected-error @below {{--defer-redo takes a question that is asked once in a work item: in a cta.role in a cta.work (run it before --specialize-warps)}}
          %any = cta.any %flags : !s
        }
      }
    }
    gpu.return
  }
}

// -----

gpu.module @kernels {
  gpu.func @no_branch(%bad: i1, %n: index) kernel {
    cta.work (%b) in (%n) order(#cta.order<natural>) {
      cta.role "all" teams(%w in 2) warps(4) {
        %flags = vector.broadcast %bad : i1 to vector<64xi1>
        // expected-error @below {{--defer-redo takes a question that decides one scf.if with results behind it}}
        %any = cta.any %flags : vector<64xi1>
        %i = arith.select %any, %b, %n : index
      }
    }
    gpu.return
  }
}

// -----

gpu.module @kernels {
  gpu.func @twice(%bad: i1, %n: index) kernel {
    cta.work (%b) in (%n) order(#cta.order<natural>) {
      cta.role "all" teams(%w in 2) warps(4) {
        %flags = vector.broadcast %bad : i1 to vector<64xi1>
        %any = cta.any %flags : vector<64xi1>
        // expected-error @below {{--defer-redo takes kernels of one cta.any, but this is another one}}
        %other = cta.any %flags : vector<64xi1>
      }
    }
    gpu.return
  }
}

// -----

!t = !cta.tile<64x64xbf16, swizzle = 128>
!ring = !cta.ring<2, !t>

gpu.module @kernels {
  gpu.func @staged(%bad: i1, %n: index) kernel {
    %ring = cta.ring : !ring
    cta.work (%b) in (%n) order(#cta.order<natural>) {
      cta.role "all" teams(%w in 2) warps(4) {
        // expected-error @below {{--defer-redo copies a program without rings: run it before --stage-tiles}}
        %k = cta.consume %ring : !ring
        %flags = vector.broadcast %bad : i1 to vector<64xi1>
        %any = cta.any %flags : vector<64xi1>
        %i = scf.if %any -> (index) {
          scf.yield %b : index
        } else {
          scf.yield %n : index
        }
      }
    }
    gpu.return
  }
}
