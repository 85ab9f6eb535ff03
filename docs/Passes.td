//===- Passes.td - Every pass, for the page of passes ------*- tablegen -*-===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

include "fa/Dialect/Attn/Transforms/Passes.td"
include "fa/Conversion/AttnToLinalg/Passes.td"
include "fa/Conversion/LinalgToCta/Passes.td"
include "fa/Dialect/Cta/Transforms/Passes.td"
include "fa/Conversion/CtaToNVVM/Passes.td"
include "fa/Target/Passes.td"
