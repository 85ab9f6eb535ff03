// Files that cannot be an argument: one error each, which names the file.

// DEFINE: %{npy} = %python %S/Inputs/npy.py write %t.npy
// DEFINE: %{run} = not fa-run %s --input=q=%t.npy
// RUN: rm -rf %t.npy
// RUN: %{run} 2>&1 | FileCheck %s --check-prefixes=ALL,MISSING
// RUN: echo text > %t.npy
// RUN: %{run} 2>&1 | FileCheck %s --check-prefixes=ALL,MAGIC
// RUN: %{npy} "<f4" 1,1,2,4 1 --cut 7
// RUN: %{run} 2>&1 | FileCheck %s --check-prefixes=ALL,MAGIC
// RUN: %{npy} "<f4" 1,1,2,4 1 --version 9
// RUN: %{run} 2>&1 | FileCheck %s --check-prefixes=ALL,VERSION
// RUN: %{npy} "<f4" 1,1,2,4 1 --cut 9
// RUN: %{run} 2>&1 | FileCheck %s --check-prefixes=ALL,HEADER
// RUN: %{npy} "<f4" 1,1,2,4 1 --cut 40
// RUN: %{run} 2>&1 | FileCheck %s --check-prefixes=ALL,HEADER
// RUN: %{npy} "<f4" 1,1,2,4 1 --header "{'descr': '<f4', 'shape': (1, 1, 2, 4)}"
// RUN: %{run} 2>&1 | FileCheck %s --check-prefixes=ALL,DICTIONARY
// RUN: %{npy} "<f4" 1,1,2,4 1 --header "{'descr': [('x', '<f4')], 'fortran_order': False, 'shape': (1, 1, 2, 4)}"
// RUN: %{run} 2>&1 | FileCheck %s --check-prefixes=ALL,DICTIONARY
// RUN: %{npy} "<f4" 1,1,2,4 1 --header "{'descr': '<f4', 'fortran_order': False, 'shape': (1, 1, -2, 4)}"
// RUN: %{run} 2>&1 | FileCheck %s --check-prefixes=ALL,DICTIONARY
// RUN: %{npy} "<f4" 1,1,2,4 1 --header "{'descr': '<f4', 'fortran_order': False, 'shape': (1, 1"
// RUN: %{run} 2>&1 | FileCheck %s --check-prefixes=ALL,DICTIONARY
// RUN: %{npy} "<f4" 1,1,2,4 1 --fortran
// RUN: %{run} 2>&1 | FileCheck %s --check-prefixes=ALL,FORTRAN
// RUN: %{npy} "<f4" 1,1,2,4 1 --cut 100
// RUN: %{run} 2>&1 | FileCheck %s --check-prefixes=ALL,CUT
// RUN: %{npy} "<f4" 1,1,2,4 1 --header "{'descr': '<f4', 'fortran_order': False, 'shape': (9223372036854775807, 9, 2, 4)}"
// RUN: %{run} 2>&1 | FileCheck %s --check-prefixes=ALL,CUT
// RUN: %{npy} ">f4" 1,1,2,4 1
// RUN: %{run} 2>&1 | FileCheck %s --check-prefixes=ALL,BIG
// RUN: %{npy} "<f4" 1,1,2,4 1 --header "{'descr': '<c8', 'fortran_order': False, 'shape': (1, 1, 1, 4)}"
// RUN: %{run} 2>&1 | FileCheck %s --check-prefixes=ALL,COMPLEX
// RUN: %{npy} "<i4" 1,1,2,4 1
// RUN: %{run} 2>&1 | FileCheck %s --check-prefixes=ALL,FLOATS
// RUN: %{npy} "<V2" 1,1,2,4 1
// RUN: %{run} 2>&1 | FileCheck %s --check-prefixes=ALL,FLOATS
// RUN: %{npy} "<f4" 1,2,4 1
// RUN: %{run} 2>&1 | FileCheck %s --check-prefixes=SHAPE
// RUN: %{npy} "<f4" 1,1,2,5 1
// RUN: %{run} 2>&1 | FileCheck %s --check-prefixes=SHAPE
// RUN: %{npy} "<f4" 1,1,2,4 1
// RUN: %{run} --input=0=%t.npy 2>&1 | FileCheck %s --check-prefixes=TWICE
// RUN: %{run} --sizes=Sq=3 2>&1 | FileCheck %s --check-prefixes=SIZE
// RUN: not fa-run %s --input=3=%t.npy 2>&1 | FileCheck %s --check-prefixes=SCALAR
// RUN: not fa-run %s --input=kv_lens=%t.npy 2>&1 | FileCheck %s --check-prefixes=NAME
// RUN: not fa-run %s --input=5=%t.npy 2>&1 | FileCheck %s --check-prefixes=NAME
// RUN: not fa-run %s --input=%t.npy 2>&1 | FileCheck %s --check-prefixes=OPTION
// RUN: %{npy} "<f4" 7 1
// RUN: not fa-run %s --input=4=%t.npy 2>&1 | FileCheck %s --check-prefixes=INTEGERS
// RUN: %{npy} "<i2" 300 200
// RUN: not fa-run %s --input=4=%t.npy 2>&1 | FileCheck %s --check-prefixes=FIT
// RUN: %{npy} "<u8" 300 18446744073709551615
// RUN: not fa-run %s --input=4=%t.npy 2>&1 | FileCheck %s --check-prefixes=FIT
// RUN: %{npy} "|b1" 7 1
// RUN: not fa-run %s --input=4=%t.npy --sizes=Sq=9 2>&1 | FileCheck %s --check-prefixes=SHORT
// RUN: fa-run %s --input=4=%t.npy --check | FileCheck %s --check-prefixes=FOLLOWS
// RUN: not fa-run %s --output=%s 2>&1 | FileCheck %s --check-prefixes=FOLDER
// RUN: not fa-run %s --output=%t --sizes=Sq=1 --sizes=Sq=2 2>&1 | FileCheck %s --check-prefixes=RUNS

// ALL: npy-invalid.mlir:[[#]]:[[#]]: error: argument 0 has no value: '{{.*}}npy-invalid.mlir.tmp.npy':
// MISSING-SAME: No such file or directory
// MAGIC-SAME: this is no .npy file
// VERSION-SAME: format versions 1.0 to 3.0 can be read, found 9.0
// HEADER-SAME: the file ends within its header
// DICTIONARY-SAME: the header must say descr (of plain elements), fortran_order and shape
// FORTRAN-SAME: the array is in Fortran order: numpy.ascontiguousarray gives C order
// CUT-SAME: the file has [[#]] bytes of elements, which does not go with its shape
// BIG-SAME: elements must be little-endian, found '>f4'
// COMPLEX-SAME: elements must be floats of 16, 32 or 64 bits, integers or booleans, found '<c8'
// FLOATS-SAME: a tensor of floats needs a file of floats
// ALL-NOT: error
// SHAPE: error: argument 0 is 'tensor<?x?x?x4xf32>', and '{{.*}}.npy' holds a shape of (1, {{2, 4|1, 2, 5}})
// TWICE: error: argument 0 has two files, '{{.*}}.npy' and '{{.*}}.npy'
// SIZE: error: '{{.*}}.npy' fixes Sq to 2, found 3
// SCALAR: error: argument 3 of type 'f32' cannot come from a file
// NAME: error: there is no argument '{{kv_lens|5}}', for which --input has a file: it may be q, k, v, cu_seqlens_q, cu_seqlens_kv or kv_lens, where the problem has it, the name of an argument in the file, or a number below 5
// OPTION: error: '{{.*}}.npy' is not an input: NAME=FILE is
// INTEGERS: error: argument 4 has no value: '{{.*}}.npy': a tensor of integers needs a file of integers or booleans
// FIT: error: argument 4 has no value: '{{.*}}.npy': element 0 does not fit 8 bits with a sign
// SHORT: error: dimension 0 of argument 4 is 7, which is too small: indexes go up to 8
// FOLLOWS: B=1,Hq=2,Hkv=2,Sq=7,Skv=271
// FOLDER: error: '{{.*}}npy-invalid.mlir/o.npy': Not a directory
// RUNS: error: --output takes the outputs of one run, so --sizes must not be repeated

func.func @attention(%q: tensor<?x?x?x4xf32>, %k: tensor<?x?x?x4xf32>, %v: tensor<?x?x?x4xf32>, %x: f32, %ids: tensor<?xi8>)
    -> (tensor<?x?x?x4xf32>, tensor<?x?x?xf32>) {
  %c0 = arith.constant 0 : i8
  %o, %lse = attn.forward ins(%q, %k, %v : tensor<?x?x?x4xf32>, tensor<?x?x?x4xf32>, tensor<?x?x?x4xf32>)
      mask(%b, %h, %i, %j) {
        %id = tensor.extract %ids[%i] : tensor<?xi8>
        %sees = arith.cmpi eq, %id, %c0 : i8
        attn.yield %sees : i1
      } : tensor<?x?x?x4xf32>, tensor<?x?x?xf32>
  return %o, %lse : tensor<?x?x?x4xf32>, tensor<?x?x?xf32>
}
