//===- CtaTypes.td - Types of the cta dialect --------------*- tablegen -*-===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Shared tiles, rings of them, products in flight and named barriers.
//
//===----------------------------------------------------------------------===//

#ifndef FA_DIALECT_CTA_IR_CTATYPES_TD
#define FA_DIALECT_CTA_IR_CTATYPES_TD

include "fa/Dialect/Cta/IR/CtaDialect.td"
include "mlir/IR/AttrTypeBase.td"

class Cta_Type<string name, string typeMnemonic> : TypeDef<Cta_Dialect, name> {
  let mnemonic = typeMnemonic;
}

def Cta_TileType : Cta_Type<"Tile", "tile"> {
  let summary = "a matrix in shared memory";
  let description = [{
    `rows` x `cols` elements. `swizzle` is the number of bytes over which
    16-byte chunks are permuted so that rows and columns are both read without
    bank conflicts; 0 says that rows simply follow one another. Rows are stored
    in segments of so many bytes; the last one may be in part unused.

    ```mlir
    !cta.tile<128x128xbf16, swizzle = 128>
    ```
  }];
  let parameters = (ins "int64_t":$rows, "int64_t":$cols,
                        "::mlir::Type":$elementType, "int64_t":$swizzle);
  let builders = [TypeBuilderWithInferredContext<
      (ins "int64_t":$rows, "int64_t":$cols, "::mlir::Type":$elementType,
           CArg<"int64_t", "128">:$swizzle),
      [{ return $_get(elementType.getContext(), rows, cols, elementType,
                      swizzle); }]>];
  let extraClassDeclaration = [{
    /// The bytes that one tile takes, with those of a last segment unused.
    int64_t getByteSize() const {
      int64_t rowBytes =
          getCols() * getElementType().getIntOrFloatBitWidth() / 8;
      if (getSwizzle())
        rowBytes = ::llvm::alignTo(rowBytes, getSwizzle());
      return getRows() * rowBytes;
    }
  }];
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
}

def Cta_RingType : Cta_Type<"Ring", "ring"> {
  let summary = "stages of one tile type, filled and read in turn";
  let description = [{
    ```mlir
    !cta.ring<2, !cta.tile<64x128xbf16, swizzle = 128>>
    ```
  }];
  let parameters = (ins "int64_t":$stages, "::fa::cta::TileType":$tile);
  let builders = [TypeBuilderWithInferredContext<
      (ins "int64_t":$stages, "::fa::cta::TileType":$tile),
      [{ return $_get(tile.getContext(), stages, tile); }]>];
  let assemblyFormat = "`<` $stages `,` qualified($tile) `>`";
  let genVerifyDecl = 1;
}

def Cta_FlightType : Cta_Type<"Flight", "flight"> {
  let summary = "a matrix product that nobody has waited for yet";
  let description = [{
    `cta.wait` turns it into the fragment `vector<rows x cols x type>`.

    ```mlir
    !cta.flight<64x128xf32>
    ```
  }];
  let parameters = (ins "int64_t":$rows, "int64_t":$cols,
                        "::mlir::Type":$elementType);
  let builders = [
    TypeBuilderWithInferredContext<
      (ins "int64_t":$rows, "int64_t":$cols, "::mlir::Type":$elementType),
      [{ return $_get(elementType.getContext(), rows, cols, elementType); }]>
  ];
  let extraClassDeclaration = [{
    /// The fragment that waiting for the product gives.
    ::mlir::VectorType getFragmentType() const {
      return ::mlir::VectorType::get({getRows(), getCols()}, getElementType());
    }
  }];
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
}

def Cta_BarrierType : Cta_Type<"Barrier", "barrier"> {
  let summary = "a number of named barriers";
  let description = [{
    ```mlir
    !cta.barrier<2>
    ```
  }];
  let parameters = (ins "int64_t":$count);
  let assemblyFormat = "`<` $count `>`";
  let genVerifyDecl = 1;
}

#endif // FA_DIALECT_CTA_IR_CTATYPES_TD
