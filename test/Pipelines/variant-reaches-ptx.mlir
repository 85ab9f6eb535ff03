// RUN: split-file %s %t
// RUN: fa-opt --fa2=level=nvvm --emit-cubin=format=ptx %t/softcap.mlir | FileCheck %s --check-prefix=SOFTCAP
// RUN: fa-opt --fa2=level=cta %t/softcap.mlir | FileCheck %s --check-prefix=SOFTCAP-CTA
// RUN: fa-opt --fa2=level=cta %t/window.mlir | FileCheck %s --check-prefix=WINDOW-CTA
// RUN: fa-opt --fa2=level=nvvm --emit-cubin=format=ptx %t/window.mlir > %t/window.ptx
// RUN: fa-opt --fa2=level=nvvm --emit-cubin=format=ptx %t/plain.mlir > %t/plain.ptx
// RUN: not cmp -s %t/window.ptx %t/plain.ptx

// A score or a mask region shows at every level down to the PTX.
// SOFTCAP: abs.f32
// SOFTCAP-CTA: arith.divf {{.*}} : vector<{{.*}}x{{.*}}xf32>
// WINDOW-CTA: arith.cmpi sge, {{.*}} : vector<{{.*}}x{{.*}}xi32>

//--- softcap.mlir
func.func @attention(%q: tensor<?x?x?x64xbf16>, %k: tensor<?x?x?x64xbf16>, %v: tensor<?x?x?x64xbf16>, %scale: f32)
    -> (tensor<?x?x?x64xbf16>, tensor<?x?x?xf32>) {
  %o, %lse = attn.forward ins(%q, %k, %v : tensor<?x?x?x64xbf16>, tensor<?x?x?x64xbf16>, tensor<?x?x?x64xbf16>) scale(%scale)
      score(%s, %b, %h, %i, %j) {
        // x / (1 + |x|), a soft cap.
        %one = arith.constant 1.0 : f32
        %a = math.absf %s : f32
        %n = arith.addf %a, %one : f32
        %c = arith.divf %s, %n fastmath<arcp> : f32
        attn.yield %c : f32
      } : tensor<?x?x?x64xbf16>, tensor<?x?x?xf32>
  return %o, %lse : tensor<?x?x?x64xbf16>, tensor<?x?x?xf32>
}

//--- window.mlir
func.func @attention(%q: tensor<?x?x?x64xbf16>, %k: tensor<?x?x?x64xbf16>, %v: tensor<?x?x?x64xbf16>, %scale: f32)
    -> (tensor<?x?x?x64xbf16>, tensor<?x?x?xf32>) {
  %o, %lse = attn.forward ins(%q, %k, %v : tensor<?x?x?x64xbf16>, tensor<?x?x?x64xbf16>, tensor<?x?x?x64xbf16>) scale(%scale)
      mask(%b, %h, %i, %j) {
        %left = arith.constant 100 : index
        %first = arith.subi %i, %left : index
        %sees = arith.cmpi sge, %j, %first : index
        attn.yield %sees : i1
      } : tensor<?x?x?x64xbf16>, tensor<?x?x?xf32>
  return %o, %lse : tensor<?x?x?x64xbf16>, tensor<?x?x?xf32>
}

//--- plain.mlir
func.func @attention(%q: tensor<?x?x?x64xbf16>, %k: tensor<?x?x?x64xbf16>, %v: tensor<?x?x?x64xbf16>, %scale: f32)
    -> (tensor<?x?x?x64xbf16>, tensor<?x?x?xf32>) {
  %o, %lse = attn.forward ins(%q, %k, %v : tensor<?x?x?x64xbf16>, tensor<?x?x?x64xbf16>, tensor<?x?x?x64xbf16>) scale(%scale)
      : tensor<?x?x?x64xbf16>, tensor<?x?x?xf32>
  return %o, %lse : tensor<?x?x?x64xbf16>, tensor<?x?x?xf32>
}
