//===- FragmentTypes.cpp - The type converter of fragments ----------------===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Lowering.h"

using namespace mlir;
using namespace fa;

/// Materialises a conversion as a cast that later conversions fold away.
static Value materialize(OpBuilder &builder, Type type, ValueRange inputs,
                         Location loc) {
  return UnrealizedConversionCastOp::create(builder, loc, type, inputs)
      .getResult(0);
}

FragmentTypeConverter::FragmentTypeConverter(int64_t warps) : warps(warps) {
  addConversion([](Type type) { return type; });
  addConversion([this](VectorType type) -> Type {
    std::optional<FragmentLayout> layout = getLayout(type);
    if (!layout)
      return type;
    return VectorType::get(layout->threadShape(), type.getElementType());
  });
  addConversion([this](cta::FlightType type) -> Type {
    return convertType(type.getFragmentType());
  });
  addConversion([](cta::TileType type) -> Type {
    return IntegerType::get(type.getContext(), 32);
  });
  addSourceMaterialization(materialize);
  addTargetMaterialization(materialize);
}

std::optional<FragmentLayout>
FragmentTypeConverter::getLayout(Type type) const {
  if (auto flight = dyn_cast<cta::FlightType>(type))
    type = flight.getFragmentType();
  auto vector = dyn_cast<VectorType>(type);
  if (!vector || vector.isScalable())
    return std::nullopt;
  return FragmentLayout::get(vector.getShape(), warps);
}
