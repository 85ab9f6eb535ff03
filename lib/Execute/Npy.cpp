//===- Npy.cpp - Tensors in .npy files -*- C++ -*-===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A file is a magic string, a version, the length of the header, the header,
// and the elements. The header is a Python dictionary:
//
//   {'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }
//
//===----------------------------------------------------------------------===//

#include "fa/Execute/Npy.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace fa::execute;

static constexpr StringLiteral kMagic("\x93NUMPY");
/// What the header's end is aligned to.
static constexpr size_t kAlignment = 64;

//===----------------------------------------------------------------------===//
// Header
//===----------------------------------------------------------------------===//

namespace {
struct Header {
  /// "<f4": byte order, kind, bytes of an element.
  std::string descr;
  bool isFortran = false;
  SmallVector<int64_t> shape;
};

/// Reads the dictionary.
class HeaderParser {
public:
  explicit HeaderParser(StringRef text) : rest(text) {}
  llvm::Expected<Header> parse();

private:
  bool consume(StringRef token);
  bool parseString(std::string &value);
  bool parseBool(bool &value);
  bool parseShape(SmallVectorImpl<int64_t> &shape);
  bool parseEntry(Header &header);

  StringRef rest;
  bool hasDescr = false, hasOrder = false, hasShape = false;
};
} // namespace

bool HeaderParser::consume(StringRef token) {
  rest = rest.ltrim();
  return rest.consume_front(token);
}

bool HeaderParser::parseString(std::string &value) {
  rest = rest.ltrim();
  if (rest.empty() || (rest[0] != '\'' && rest[0] != '"'))
    return false;
  size_t end = rest.find(rest[0], 1);
  if (end == StringRef::npos)
    return false;
  value = rest.slice(1, end).str();
  rest = rest.drop_front(end + 1);
  return true;
}

bool HeaderParser::parseBool(bool &value) {
  value = consume("True");
  return value || consume("False");
}

bool HeaderParser::parseShape(SmallVectorImpl<int64_t> &shape) {
  if (!consume("("))
    return false;
  while (!consume(")")) {
    rest = rest.ltrim();
    if (rest.consumeInteger(10, shape.emplace_back()) || shape.back() < 0)
      return false;
    if (!consume(",") && !rest.ltrim().starts_with(")"))
      return false;
  }
  return true;
}

/// Reads one key and its value.
bool HeaderParser::parseEntry(Header &header) {
  std::string key;
  if (!parseString(key) || !consume(":"))
    return false;
  if (key == "descr")
    return hasDescr = parseString(header.descr);
  if (key == "fortran_order")
    return hasOrder = parseBool(header.isFortran);
  if (key == "shape")
    return hasShape = parseShape(header.shape);
  return false;
}

llvm::Expected<Header> HeaderParser::parse() {
  Header header;
  bool isRight = consume("{");
  while (isRight && !consume("}"))
    isRight =
        parseEntry(header) && (consume(",") || rest.ltrim().starts_with("}"));
  if (isRight && hasDescr && hasOrder && hasShape && rest.trim().empty())
    return header;
  return llvm::createStringError(
      "the header must say descr (of plain elements), fortran_order and shape");
}

/// Splits the file into header and elements.
static llvm::Expected<Header> readHeader(StringRef &bytes) {
  constexpr size_t versionEnd = 8;
  if (bytes.size() < versionEnd || !bytes.starts_with(kMagic))
    return llvm::createStringError("this is no .npy file");
  unsigned major = bytes[kMagic.size()], minor = bytes[kMagic.size() + 1];
  if (major < 1 || major > 3 || minor != 0)
    return llvm::createStringError(
        "format versions 1.0 to 3.0 can be read, found " + llvm::Twine(major) +
        "." + llvm::Twine(minor));
  bytes = bytes.drop_front(versionEnd);
  size_t width = major == 1 ? 2 : 4;
  if (bytes.size() < width)
    return llvm::createStringError("the file ends within its header");
  size_t length = major == 1 ? llvm::support::endian::read16le(bytes.data())
                             : llvm::support::endian::read32le(bytes.data());
  bytes = bytes.drop_front(width);
  if (bytes.size() < length)
    return llvm::createStringError("the file ends within its header");
  StringRef text = bytes.take_front(length);
  bytes = bytes.drop_front(length);
  return HeaderParser(text).parse();
}

//===----------------------------------------------------------------------===//
// Elements
//===----------------------------------------------------------------------===//

namespace {
/// What a file's elements are.
struct Element {
  /// f: float, i: integer, u: unsigned integer, b: boolean, V: bits.
  char kind;
  unsigned bytes;
};
} // namespace

static llvm::Expected<Element> parseElement(StringRef descr) {
  Element element = {};
  StringRef size = descr.drop_front(std::min<size_t>(2, descr.size()));
  bool isKnown = descr.size() > 2 && StringRef("<|>").contains(descr[0]) &&
                 StringRef("fiubV").contains(descr[1]) &&
                 !size.getAsInteger(10, element.bytes);
  if (isKnown)
    element.kind = descr[1];
  bool isFloat = element.kind == 'f' && element.bytes >= 2;
  bool isInteger = element.kind == 'i' || element.kind == 'u';
  bool isSize = llvm::is_contained({1u, 2u, 4u, 8u}, element.bytes);
  bool isBool = element.kind == 'b' && element.bytes == 1;
  bool isBits = element.kind == 'V' && element.bytes == 2;
  if (!(isSize && (isFloat || isInteger)) && !isBool && !isBits)
    return llvm::createStringError(
        "elements must be floats of 16, 32 or 64 bits, integers or booleans, "
        "found '" +
        descr + "'");
  if (descr[0] == '>' && element.bytes > 1)
    return llvm::createStringError("elements must be little-endian, found '" +
                                   descr + "'");
  return element;
}

/// The type of a tensor whose elements lie in memory as the file's do; null
/// where none does.
static Type getSameType(MLIRContext *context, Element element) {
  switch (element.kind) {
  case 'f':
    return element.bytes == 2   ? Type(Float16Type::get(context))
           : element.bytes == 4 ? Type(Float32Type::get(context))
                                : Type(Float64Type::get(context));
  case 'i':
    return IntegerType::get(context, 8 * element.bytes);
  case 'V':
    return BFloat16Type::get(context);
  default:
    return {};
  }
}

/// A tensor with the file's bytes.
static HostTensor copyBytes(Type element, ArrayRef<int64_t> shape,
                            StringRef bytes) {
  HostTensor tensor(element, shape);
  llvm::copy(bytes, tensor.getBytes().begin());
  return tensor;
}

/// Fills `tensor`, of floats, from a file with floats.
static llvm::Error readFloats(Element source, StringRef bytes,
                              HostTensor &tensor) {
  Type from = getSameType(tensor.getElementType().getContext(), source);
  if (!isa_and_nonnull<FloatType>(from) ||
      (source.kind == 'V' && from != tensor.getElementType()))
    return llvm::createStringError("a tensor of floats needs a file of floats");
  HostTensor read = copyBytes(from, tensor.getShape(), bytes);
  if (from == tensor.getElementType())
    tensor = std::move(read);
  else
    for (int64_t i = 0; i < tensor.getNumElements(); ++i)
      tensor.store(i, read.load(i));
  return llvm::Error::success();
}

/// One integer of a file, if it fits into 64 bits with a sign.
static std::optional<int64_t> readInteger(Element source, const char *bytes) {
  uint64_t bits = 0;
  std::memcpy(&bits, bytes, source.bytes);
  if (source.kind == 'i')
    return llvm::SignExtend64(bits, 8 * source.bytes);
  if (bits > uint64_t(std::numeric_limits<int64_t>::max()))
    return std::nullopt;
  return int64_t(bits);
}

/// Fills `tensor`, of integers, from a file with integers.
static llvm::Error readIntegers(Element source, StringRef bytes,
                                HostTensor &tensor) {
  if (source.kind == 'f' || source.kind == 'V')
    return llvm::createStringError(
        "a tensor of integers needs a file of integers or booleans");
  Type type = tensor.getElementType();
  unsigned width = isa<IndexType>(type) ? 64 : type.getIntOrFloatBitWidth();
  for (int64_t i = 0; i < tensor.getNumElements(); ++i) {
    std::optional<int64_t> value =
        readInteger(source, bytes.data() + i * source.bytes);
    bool fits = value && (width == 1 ? *value == 0 || *value == 1
                                     : llvm::isIntN(width, *value));
    if (!fits)
      return llvm::createStringError(
          "element " + llvm::Twine(i) + " does not fit " + llvm::Twine(width) +
          (width == 1 ? " bit" : " bits with a sign"));
    tensor.storeInteger(i, *value);
  }
  return llvm::Error::success();
}

/// Reads what the file holds.
static llvm::Expected<HostTensor> parseFile(StringRef bytes, Type element) {
  llvm::Expected<Header> header = readHeader(bytes);
  if (!header)
    return header.takeError();
  llvm::Expected<Element> source = parseElement(header->descr);
  if (!source)
    return source.takeError();
  if (header->isFortran)
    return llvm::createStringError(
        "the array is in Fortran order: numpy.ascontiguousarray gives C order");
  int64_t needed = source->bytes;
  bool overflows = false;
  for (int64_t size : header->shape)
    overflows |= llvm::MulOverflow(needed, size, needed);
  if (overflows || uint64_t(needed) != bytes.size())
    return llvm::createStringError(
        "the file has " + llvm::Twine(bytes.size()) +
        " bytes of elements, which does not go with its shape");
  HostTensor tensor(element, header->shape);
  llvm::Error error = isa<FloatType>(element)
                          ? readFloats(*source, bytes, tensor)
                          : readIntegers(*source, bytes, tensor);
  if (error)
    return error;
  return tensor;
}

static llvm::Error name(StringRef file, llvm::Error error) {
  return llvm::createStringError("'" + file +
                                 "': " + llvm::toString(std::move(error)));
}

llvm::Expected<HostTensor> fa::execute::readNpy(StringRef file, Type element) {
  auto buffer = llvm::MemoryBuffer::getFile(file, /*IsText=*/false,
                                            /*RequiresNullTerminator=*/false);
  if (!buffer)
    return name(file, llvm::errorCodeToError(buffer.getError()));
  llvm::Expected<HostTensor> tensor =
      parseFile((*buffer)->getBuffer(), element);
  if (!tensor)
    return name(file, tensor.takeError());
  return tensor;
}

//===----------------------------------------------------------------------===//
// Writing
//===----------------------------------------------------------------------===//

/// `tensor` with elements that NumPy has.
static HostTensor widen(const HostTensor &tensor) {
  Type type = tensor.getElementType();
  if (!type.isBF16())
    return tensor;
  HostTensor wide(Float32Type::get(type.getContext()), tensor.getShape());
  for (int64_t i = 0; i < tensor.getNumElements(); ++i)
    wide.store(i, tensor.load(i));
  return wide;
}

llvm::Error fa::execute::writeNpy(StringRef file, const HostTensor &tensor) {
  HostTensor wide = widen(tensor);
  std::string header = "{'descr': '<f" +
                       std::to_string(wide.getElementBytes()) +
                       "', 'fortran_order': False, 'shape': (";
  for (int64_t size : wide.getShape())
    header += std::to_string(size) + ", ";
  header += "), }";
  // The length of the header is in two bytes behind the version.
  size_t before = kMagic.size() + 4;
  header.resize(
      llvm::alignTo(before + header.size() + 1, kAlignment) - before - 1, ' ');
  header += '\n';

  std::error_code code;
  llvm::raw_fd_ostream stream(file, code);
  if (code)
    return name(file, llvm::errorCodeToError(code));
  char length[2];
  llvm::support::endian::write16le(length, header.size());
  stream << kMagic << '\x01' << '\x00' << StringRef(length, sizeof(length))
         << header << StringRef(wide.getBytes().data(), wide.getBytes().size());
  stream.close();
  if (!stream.has_error())
    return llvm::Error::success();
  code = stream.error();
  stream.clear_error();
  return name(file, llvm::errorCodeToError(code));
}
