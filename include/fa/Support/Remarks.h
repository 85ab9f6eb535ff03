//===- Remarks.h - What a pass decided and why -*- C++ -*-===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Our passes tell what they chose through MLIR's optimisation remarks. They are
// off, and cost a pointer test, unless `fa-opt --remarks-filter=REGEX` names
// the pass (`--remarks-filter='.*'` names all); docs/remarks.md.
//
// Use, in a pass (`using namespace mlir`):
//   remarkDecision(loop, "prefetch", "distance")
//       << remark::metric("blocks", 2) << remark::reason("{0} stages", 3);
//   remarkMissed(loop, "prefetch", "distance") << remark::reason("one stage");
//
//===----------------------------------------------------------------------===//

#ifndef FA_SUPPORT_REMARKS_H
#define FA_SUPPORT_REMARKS_H

#include "mlir/IR/Operation.h"
#include "mlir/IR/Remarks.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

namespace fa {

/// `what` of pass `pass`, in the function around `op`. Both are kept by
/// reference: literals.
inline mlir::remark::RemarkOpts
remarkOptions(mlir::Operation *op, llvm::StringRef pass, llvm::StringRef what) {
  auto options = mlir::remark::RemarkOpts::name(what).category(pass);
  auto function = llvm::dyn_cast<mlir::FunctionOpInterface>(op);
  if (!function)
    function = op->getParentOfType<mlir::FunctionOpInterface>();
  return function ? options.function(function.getName()) : options;
}

/// A remark at `op` that `pass`, by its command-line name, decided `what`, a
/// noun. Stream the choice (`remark::metric`) and why (`remark::reason`) to it.
inline mlir::remark::detail::InFlightRemark
remarkDecision(mlir::Operation *op, llvm::StringRef pass,
               llvm::StringRef what) {
  return mlir::remark::passed(op->getLoc(), remarkOptions(op, pass, what));
}

/// The same where `pass` left `op` as it was. Stream the reason to it.
inline mlir::remark::detail::InFlightRemark
remarkMissed(mlir::Operation *op, llvm::StringRef pass, llvm::StringRef what) {
  return mlir::remark::missed(op->getLoc(), remarkOptions(op, pass, what));
}

} // namespace fa

#endif // FA_SUPPORT_REMARKS_H
