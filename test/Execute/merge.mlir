// attn.merge: every 64 keys fold into a state of their own, and all states into one; normalised or not. Without a batch dimension
// in the states, and on whole tensors. Some parts are empty for some rows, and some rows (Sq > Skv) in all parts.

// RUN: split-file %s %t
// DEFINE: %{sizes} = --sizes=Hkv=1,Hq=1,Sq=17,Skv=1000 --sizes=Hkv=1,Hq=1,Sq=113,Skv=271 --sizes=Hkv=1,Hq=1,Sq=5,Skv=1 --sizes=Hkv=1,Hq=1,Sq=200,Skv=130 --sizes=Hkv=1,Hq=1,Sq=4,Skv=0
// DEFINE: %{run} = fa-run - --reference=%t/problem.mlir --check %{sizes}
// RUN: %{run} < %t/parts.mlir
// RUN: %{run} < %t/parts.mlir --dist=large:12
// RUN: sed 's/attn.update/attn.update normalized/; s/attn.merge/attn.merge normalized/; s/attn.finalize/attn.finalize normalized/' %t/parts.mlir | %{run}
// RUN: %{run} < %t/whole.mlir
// RUN: sed 's/attn.update/attn.update normalized/; s/attn.merge/attn.merge normalized/; s/attn.finalize/attn.finalize normalized/' %t/whole.mlir | %{run}

// All in place.
// RUN: fa-opt %t/parts.mlir --online-softmax --eliminate-empty-tensors --one-shot-bufferize="bufferize-function-boundaries allow-return-allocs-from-loops" --cse --canonicalize | FileCheck %s
// CHECK-LABEL: func @attention
// CHECK-NOT: memref.copy
// CHECK: return

//--- problem.mlir
func.func @attention(%q: tensor<1x?x?x64xbf16>, %k: tensor<1x?x?x64xbf16>, %v: tensor<1x?x?x64xbf16>)
    -> (tensor<1x?x?x64xbf16>, tensor<1x?x?xf32>) {
  %o, %lse = attn.forward ins(%q, %k, %v : tensor<1x?x?x64xbf16>, tensor<1x?x?x64xbf16>, tensor<1x?x?x64xbf16>)
      using [#attn.causal] : tensor<1x?x?x64xbf16>, tensor<1x?x?xf32>
  return %o, %lse : tensor<1x?x?x64xbf16>, tensor<1x?x?xf32>
}

//--- parts.mlir
func.func @attention(%q: tensor<1x?x?x64xbf16>, %k: tensor<1x?x?x64xbf16>, %v: tensor<1x?x?x64xbf16>)
    -> (tensor<1x?x?x64xbf16>, tensor<1x?x?xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c64 = arith.constant 64 : index
  %scale = arith.constant 1.25e-01 : f32
  %sq = tensor.dim %q, %c2 : tensor<1x?x?x64xbf16>
  %skv = tensor.dim %k, %c2 : tensor<1x?x?x64xbf16>
  %n = arith.ceildivui %skv, %c64 : index
  %qt = tensor.extract_slice %q[0, 0, 0, 0] [1, 1, %sq, 64] [1, 1, 1, 1] : tensor<1x?x?x64xbf16> to tensor<?x64xbf16>
  %accs = tensor.empty(%n, %sq) : tensor<?x?x64xf32>
  %maxs = tensor.empty(%n, %sq) : tensor<?x?xf32>
  %sums = tensor.empty(%n, %sq) : tensor<?x?xf32>
  %as0, %ms0, %ls0 = attn.init outs(%accs, %maxs, %sums : tensor<?x?x64xf32>, tensor<?x?xf32>, tensor<?x?xf32>)
  %s:3 = scf.for %p = %c0 to %n step %c1 iter_args(%as = %as0, %ms = %ms0, %ls = %ls0) -> (tensor<?x?x64xf32>, tensor<?x?xf32>, tensor<?x?xf32>) {
    %j = arith.muli %p, %c64 : index
    %rest = arith.subi %skv, %j : index
    %size = arith.minsi %rest, %c64 : index
    %kt = tensor.extract_slice %k[0, 0, %j, 0] [1, 1, %size, 64] [1, 1, 1, 1] : tensor<1x?x?x64xbf16> to tensor<?x64xbf16>
    %vt = tensor.extract_slice %v[0, 0, %j, 0] [1, 1, %size, 64] [1, 1, 1, 1] : tensor<1x?x?x64xbf16> to tensor<?x64xbf16>
    %a = tensor.extract_slice %as[%p, 0, 0] [1, %sq, 64] [1, 1, 1] : tensor<?x?x64xf32> to tensor<?x64xf32>
    %m = tensor.extract_slice %ms[%p, 0] [1, %sq] [1, 1] : tensor<?x?xf32> to tensor<?xf32>
    %l = tensor.extract_slice %ls[%p, 0] [1, %sq] [1, 1] : tensor<?x?xf32> to tensor<?xf32>
    %u:3 = attn.update ins(%qt, %kt, %vt : tensor<?x64xbf16>, tensor<?x64xbf16>, tensor<?x64xbf16>)
        at(%c0, %c0, %c0, %j) lens(%sq, %skv) scale(%scale) outs(%a, %m, %l : tensor<?x64xf32>, tensor<?xf32>, tensor<?xf32>)
        mask(%b, %h, %i, %jj) {
          %shift = arith.subi %skv, %sq : index
          %last = arith.addi %i, %shift : index
          %sees = arith.cmpi sle, %jj, %last : index
          attn.yield %sees : i1
        }
    %as1 = tensor.insert_slice %u#0 into %as[%p, 0, 0] [1, %sq, 64] [1, 1, 1] : tensor<?x64xf32> into tensor<?x?x64xf32>
    %ms1 = tensor.insert_slice %u#1 into %ms[%p, 0] [1, %sq] [1, 1] : tensor<?xf32> into tensor<?x?xf32>
    %ls1 = tensor.insert_slice %u#2 into %ls[%p, 0] [1, %sq] [1, 1] : tensor<?xf32> into tensor<?x?xf32>
    scf.yield %as1, %ms1, %ls1 : tensor<?x?x64xf32>, tensor<?x?xf32>, tensor<?x?xf32>
  }
  %acc = tensor.empty(%sq) : tensor<?x64xf32>
  %max = tensor.empty(%sq) : tensor<?xf32>
  %sum = tensor.empty(%sq) : tensor<?xf32>
  %i:3 = attn.init outs(%acc, %max, %sum : tensor<?x64xf32>, tensor<?xf32>, tensor<?xf32>)
  %r:3 = attn.merge ins(%s#0, %s#1, %s#2 : tensor<?x?x64xf32>, tensor<?x?xf32>, tensor<?x?xf32>) unit(%scale)
      outs(%i#0, %i#1, %i#2 : tensor<?x64xf32>, tensor<?xf32>, tensor<?xf32>)
  %oe = tensor.empty(%sq) : tensor<?x64xbf16>
  %le = tensor.empty(%sq) : tensor<?xf32>
  %o, %lse = attn.finalize ins(%r#0, %r#1, %r#2 : tensor<?x64xf32>, tensor<?xf32>, tensor<?xf32>) unit(%scale) outs(%oe, %le : tensor<?x64xbf16>, tensor<?xf32>)
  %o4 = tensor.expand_shape %o [[0, 1, 2], [3]] output_shape [1, 1, %sq, 64] : tensor<?x64xbf16> into tensor<1x1x?x64xbf16>
  %lse3 = tensor.expand_shape %lse [[0, 1, 2]] output_shape [1, 1, %sq] : tensor<?xf32> into tensor<1x1x?xf32>
  %oc = tensor.cast %o4 : tensor<1x1x?x64xbf16> to tensor<1x?x?x64xbf16>
  %lc = tensor.cast %lse3 : tensor<1x1x?xf32> to tensor<1x?x?xf32>
  return %oc, %lc : tensor<1x?x?x64xbf16>, tensor<1x?x?xf32>
}

//--- whole.mlir
func.func @attention(%q: tensor<1x?x?x64xbf16>, %k: tensor<1x?x?x64xbf16>, %v: tensor<1x?x?x64xbf16>)
    -> (tensor<1x?x?x64xbf16>, tensor<1x?x?xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c64 = arith.constant 64 : index
  %scale = arith.constant 1.25e-01 : f32
  %heads = tensor.dim %q, %c1 : tensor<1x?x?x64xbf16>
  %sq = tensor.dim %q, %c2 : tensor<1x?x?x64xbf16>
  %skv = tensor.dim %k, %c2 : tensor<1x?x?x64xbf16>
  %n = arith.ceildivui %skv, %c64 : index
  %accs = tensor.empty(%n, %heads, %sq) : tensor<?x1x?x?x64xf32>
  %maxs = tensor.empty(%n, %heads, %sq) : tensor<?x1x?x?xf32>
  %sums = tensor.empty(%n, %heads, %sq) : tensor<?x1x?x?xf32>
  %as0, %ms0, %ls0 = attn.init outs(%accs, %maxs, %sums : tensor<?x1x?x?x64xf32>, tensor<?x1x?x?xf32>, tensor<?x1x?x?xf32>)
  %s:3 = scf.for %p = %c0 to %n step %c1 iter_args(%as = %as0, %ms = %ms0, %ls = %ls0) -> (tensor<?x1x?x?x64xf32>, tensor<?x1x?x?xf32>, tensor<?x1x?x?xf32>) {
    %j = arith.muli %p, %c64 : index
    %rest = arith.subi %skv, %j : index
    %size = arith.minsi %rest, %c64 : index
    %t:3 = scf.for %hh = %c0 to %heads step %c1 iter_args(%ah = %as, %mh = %ms, %lh = %ls) -> (tensor<?x1x?x?x64xf32>, tensor<?x1x?x?xf32>, tensor<?x1x?x?xf32>) {
      %qt = tensor.extract_slice %q[0, %hh, 0, 0] [1, 1, %sq, 64] [1, 1, 1, 1] : tensor<1x?x?x64xbf16> to tensor<?x64xbf16>
      %kt = tensor.extract_slice %k[0, %hh, %j, 0] [1, 1, %size, 64] [1, 1, 1, 1] : tensor<1x?x?x64xbf16> to tensor<?x64xbf16>
      %vt = tensor.extract_slice %v[0, %hh, %j, 0] [1, 1, %size, 64] [1, 1, 1, 1] : tensor<1x?x?x64xbf16> to tensor<?x64xbf16>
      %a = tensor.extract_slice %ah[%p, 0, %hh, 0, 0] [1, 1, 1, %sq, 64] [1, 1, 1, 1, 1] : tensor<?x1x?x?x64xf32> to tensor<?x64xf32>
      %m = tensor.extract_slice %mh[%p, 0, %hh, 0] [1, 1, 1, %sq] [1, 1, 1, 1] : tensor<?x1x?x?xf32> to tensor<?xf32>
      %l = tensor.extract_slice %lh[%p, 0, %hh, 0] [1, 1, 1, %sq] [1, 1, 1, 1] : tensor<?x1x?x?xf32> to tensor<?xf32>
      %u:3 = attn.update ins(%qt, %kt, %vt : tensor<?x64xbf16>, tensor<?x64xbf16>, tensor<?x64xbf16>)
          at(%c0, %c0, %c0, %j) lens(%sq, %skv) scale(%scale) outs(%a, %m, %l : tensor<?x64xf32>, tensor<?xf32>, tensor<?xf32>)
          mask(%b, %h, %i, %jj) {
            %shift = arith.subi %skv, %sq : index
            %last = arith.addi %i, %shift : index
            %sees = arith.cmpi sle, %jj, %last : index
            attn.yield %sees : i1
          }
      %as1 = tensor.insert_slice %u#0 into %ah[%p, 0, %hh, 0, 0] [1, 1, 1, %sq, 64] [1, 1, 1, 1, 1] : tensor<?x64xf32> into tensor<?x1x?x?x64xf32>
      %ms1 = tensor.insert_slice %u#1 into %mh[%p, 0, %hh, 0] [1, 1, 1, %sq] [1, 1, 1, 1] : tensor<?xf32> into tensor<?x1x?x?xf32>
      %ls1 = tensor.insert_slice %u#2 into %lh[%p, 0, %hh, 0] [1, 1, 1, %sq] [1, 1, 1, 1] : tensor<?xf32> into tensor<?x1x?x?xf32>
      scf.yield %as1, %ms1, %ls1 : tensor<?x1x?x?x64xf32>, tensor<?x1x?x?xf32>, tensor<?x1x?x?xf32>
    }
    scf.yield %t#0, %t#1, %t#2 : tensor<?x1x?x?x64xf32>, tensor<?x1x?x?xf32>, tensor<?x1x?x?xf32>
  }
  %acc = tensor.empty(%heads, %sq) : tensor<1x?x?x64xf32>
  %max = tensor.empty(%heads, %sq) : tensor<1x?x?xf32>
  %sum = tensor.empty(%heads, %sq) : tensor<1x?x?xf32>
  %i:3 = attn.init outs(%acc, %max, %sum : tensor<1x?x?x64xf32>, tensor<1x?x?xf32>, tensor<1x?x?xf32>)
  %r:3 = attn.merge ins(%s#0, %s#1, %s#2 : tensor<?x1x?x?x64xf32>, tensor<?x1x?x?xf32>, tensor<?x1x?x?xf32>) unit(%scale)
      outs(%i#0, %i#1, %i#2 : tensor<1x?x?x64xf32>, tensor<1x?x?xf32>, tensor<1x?x?xf32>)
  %oe = tensor.empty(%heads, %sq) : tensor<1x?x?x64xbf16>
  %le = tensor.empty(%heads, %sq) : tensor<1x?x?xf32>
  %o, %lse = attn.finalize ins(%r#0, %r#1, %r#2 : tensor<1x?x?x64xf32>, tensor<1x?x?xf32>, tensor<1x?x?xf32>) unit(%scale) outs(%oe, %le : tensor<1x?x?x64xbf16>, tensor<1x?x?xf32>)
  return %o, %lse : tensor<1x?x?x64xbf16>, tensor<1x?x?xf32>
}
