// RUN: fa-opt --online-softmax %s --split-input-file | FileCheck %s

// Documents: of the keys' ids the least and the largest, with which each query's id is compared. Where an id is not between them, all are.
// CHECK-LABEL: func @documents
// CHECK: scf.forall (%[[KEYS:.*]], %[[QUERIES:.*]], %{{.*}}, %[[B:.*]]) in
// CHECK: %[[FIRST:.*]] = tensor.extract %[[IDS:.*]][%[[B]], %[[J:.*]]] : tensor<?x?xi32>
// CHECK: %[[LAST:.*]] = tensor.extract %[[IDS]][%[[B]], %{{.*}}] : tensor<?x?xi32>
// CHECK: %[[LOW:.*]] = arith.minsi %[[FIRST]], %[[LAST]]
// CHECK: %[[HIGH:.*]] = arith.maxsi %[[FIRST]], %[[LAST]]
// CHECK: linalg.generic
// CHECK: %[[KEY:.*]] = tensor.extract %[[IDS]][%[[B]], %{{.*}}]
// CHECK: arith.cmpi sge, %[[KEY]], %[[LOW]]
// CHECK: arith.cmpi sle, %[[KEY]], %[[HIGH]]
// CHECK: linalg.generic
// CHECK: %[[QUERY:.*]] = tensor.extract %{{.*}}[%[[B]], %{{.*}}]
// CHECK: arith.cmpi slt, %[[QUERY]], %[[LOW]]
// CHECK: arith.cmpi slt, %[[HIGH]], %[[QUERY]]
// CHECK: scf.if
// CHECK: scf.for
// CHECK: linalg.generic {{.*}}"parallel", "reduction"]} ins(%{{.*}} : tensor<16x64xf32>)
// CHECK-NOT: "parallel", "reduction"
// CHECK: attn.prepares
func.func @documents(%n: index, %m: index, %idsQ: tensor<?x?xi32>, %ids: tensor<?x?xi32>)
    -> (tensor<?x1x?x?xi32>, tensor<?x1x?x2xi32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %batches = tensor.dim %ids, %c0 : tensor<?x?xi32>
  %blocks, %counts = attn.block_list batches(%batches) heads(%c1) lens(%n, %m) blocks(128, 64) mask(%b, %h, %i, %j) {
    %di = tensor.extract %idsQ[%b, %i] : tensor<?x?xi32>
    %dj = tensor.extract %ids[%b, %j] : tensor<?x?xi32>
    %sees = arith.cmpi eq, %di, %dj : i32
    attn.yield %sees : i1
  } : tensor<?x1x?x?xi32>, tensor<?x1x?x2xi32>
  return %blocks, %counts : tensor<?x1x?x?xi32>, tensor<?x1x?x2xi32>
}

// -----

// Sums of positions and ids: a window that begins at each query's own start. Nothing is assumed of queries, and nothing fails.
// CHECK-LABEL: func @windows
// CHECK: %[[LAST:.*]] = arith.subi %{{.*}}, %c1
// CHECK: linalg.generic
// CHECK: %[[START:.*]] = tensor.extract
// CHECK: %[[CAST:.*]] = arith.index_cast %[[START]] : i32 to index
// CHECK: %[[BEGIN:.*]] = arith.addi %[[CAST]], %{{.*}} : index
// CHECK: arith.cmpi sle, %[[BEGIN]], %{{.*}} : index
// CHECK: arith.cmpi sgt, %[[BEGIN]], %{{.*}} : index
// CHECK-NOT: "parallel", "reduction"
// CHECK: attn.prepares
func.func @windows(%n: index, %starts: tensor<?xi32>, %more: index) -> tensor<1x1x?x?xi32> {
  %c1 = arith.constant 1 : index
  %blocks, %counts = attn.block_list batches(%c1) heads(%c1) lens(%n, %n) blocks(64, 64) mask(%b, %h, %i, %j) {
    %start = tensor.extract %starts[%i] : tensor<?xi32>
    %cast = arith.index_cast %start : i32 to index
    %begin = arith.addi %cast, %more : index
    %sees = arith.cmpi sge, %j, %begin : index
    attn.yield %sees : i1
  } : tensor<1x1x?x?xi32>, tensor<1x1x?x2xi32>
  return %blocks : tensor<1x1x?x?xi32>
}

// -----

// Sums of 64 bits may wrap around, and remainders have no ranges: each query and key is looked at, by four warps.
// CHECK-LABEL: func @unknown
// CHECK: linalg.generic {{.*}}"parallel", "reduction"]} ins(%{{.*}} : tensor<64x64xf32>)
// CHECK: attn.prepares
// CHECK: linalg.generic {{.*}}"parallel", "reduction"]} ins(%{{.*}} : tensor<64x64xf32>)
// CHECK: attn.prepares
func.func @unknown(%n: index, %starts: tensor<?xi64>) -> (tensor<1x1x?x?xi32>, tensor<1x1x?x?xi32>) {
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %wide, %counts = attn.block_list batches(%c1) heads(%c1) lens(%n, %n) blocks(64, 64) mask(%b, %h, %i, %j) {
    %start = tensor.extract %starts[%i] : tensor<?xi64>
    %cast = arith.index_cast %start : i64 to index
    %end = arith.addi %cast, %i : index
    %sees = arith.cmpi sge, %j, %end : index
    attn.yield %sees : i1
  } : tensor<1x1x?x?xi32>, tensor<1x1x?x2xi32>
  %thirds, %numbers = attn.block_list batches(%c1) heads(%c1) lens(%n, %n) blocks(64, 64) mask(%b, %h, %i, %j) {
    %rest = arith.remui %j, %c3 : index
    %sees = arith.cmpi eq, %rest, %c1 : index
    attn.yield %sees : i1
  } : tensor<1x1x?x?xi32>, tensor<1x1x?x2xi32>
  return %wide, %thirds : tensor<1x1x?x?xi32>, tensor<1x1x?x?xi32>
}

// -----

// What may wrap around has no range: a sum cast to fewer bits than it may have, and one with an element of 64 bits.
// CHECK-LABEL: func @wraps
// CHECK: linalg.generic {{.*}}"parallel", "reduction"]} ins(%{{.*}} : tensor<64x64xf32>)
// CHECK: attn.prepares
// CHECK: linalg.generic {{.*}}"parallel", "reduction"]} ins(%{{.*}} : tensor<64x64xf32>)
// CHECK: attn.prepares
func.func @wraps(%n: index, %ids: tensor<?xi32>, %lens: tensor<?xi64>) -> (tensor<1x1x?x?xi32>, tensor<1x1x?x?xi32>) {
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0 : i32
  %narrow, %counts = attn.block_list batches(%c1) heads(%c1) lens(%n, %n) blocks(64, 64) mask(%b, %h, %i, %j) {
    %id = tensor.extract %ids[%i] : tensor<?xi32>
    %wide = arith.index_cast %id : i32 to index
    %sum = arith.addi %wide, %j : index
    %cast = arith.index_cast %sum : index to i32
    %sees = arith.cmpi sge, %cast, %zero : i32
    attn.yield %sees : i1
  } : tensor<1x1x?x?xi32>, tensor<1x1x?x2xi32>
  %point, %numbers = attn.block_list batches(%c1) heads(%c1) lens(%n, %n) blocks(64, 64) mask(%b, %h, %i, %j) {
    %len = tensor.extract %lens[%b] : tensor<?xi64>
    %wide = arith.index_cast %len : i64 to index
    %sum = arith.addi %wide, %j : index
    %sees = arith.cmpi sge, %sum, %i : index
    attn.yield %sees : i1
  } : tensor<1x1x?x?xi32>, tensor<1x1x?x2xi32>
  return %narrow, %point : tensor<1x1x?x?xi32>, tensor<1x1x?x?xi32>
}

// -----

// A tensor that the region makes is made outside of it too.
// CHECK-LABEL: func @made
// CHECK: %[[PART:.*]] = tensor.extract_slice %{{.*}}[%{{.*}}, 0] [1, 8] [1, 1]
// CHECK: tensor.extract %[[PART]]
// CHECK: arith.minsi
// CHECK: attn.prepares
func.func @made(%n: index, %ids: tensor<?x8xi32>) -> tensor<?x1x?x?xi32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0 : i32
  %batches = tensor.dim %ids, %c0 : tensor<?x8xi32>
  %blocks, %counts = attn.block_list batches(%batches) heads(%c1) lens(%n, %n) blocks(64, 64) mask(%b, %h, %i, %j) {
    %part = tensor.extract_slice %ids[%b, 0] [1, 8] [1, 1] : tensor<?x8xi32> to tensor<8xi32>
    %id = tensor.extract %part[%j] : tensor<8xi32>
    %sees = arith.cmpi ne, %id, %zero : i32
    attn.yield %sees : i1
  } : tensor<?x1x?x?xi32>, tensor<?x1x?x2xi32>
  return %blocks : tensor<?x1x?x?xi32>
}
