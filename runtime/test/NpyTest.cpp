//===- NpyTest.cpp - Arrays in NumPy's files ------------------------------===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Npy.h"
#include "TestLibrary.h"

#include <gtest/gtest.h>

using namespace fa;
using namespace fa::bench;
using namespace fa::test;

/// A file of version 1 with this header and these bytes behind it.
static std::string npyText(const std::string &header, const std::string &data) {
  std::string text("\x93NUMPY\1\0", 8);
  text += char(header.size());
  text += '\0';
  return text + header + data;
}

static NpyArray readText(const std::string &text) {
  TestFolder folder(std::string("{}"));
  folder.write("a.npy", text);
  return readNpy(folder.path() + "/a.npy");
}

TEST(Npy, ReadsWhatItWrites) {
  TestFolder folder(std::string("{}"));
  std::string path = folder.path() + "/a.npy";
  for (NpyArray array :
       {NpyArray{{2, 3}, {1, -2, 0.5, 4, 5, 6}}, NpyArray{{3}, {1, 2, 3}},
        NpyArray{{}, {0.25}}, NpyArray{{0, 4}, {}}}) {
    writeNpy(path, array);
    NpyArray read = readNpy(path);
    EXPECT_EQ(read.shape, array.shape);
    EXPECT_EQ(read.values, array.values);
  }
}

TEST(Npy, ReadsEachElementType) {
  auto header = [](const std::string &type) {
    return "{'descr': '" + type + "', 'fortran_order': False, 'shape': (1,), }";
  };
  using namespace std::string_literals;
  EXPECT_EQ(readText(npyText(header("<f2"), "\x00\x3e"s)).values[0], 1.5);
  EXPECT_EQ(readText(npyText(header("|V2"), "\xc0\x3f"s)).values[0], 1.5);
  EXPECT_EQ(readText(npyText(header("<f4"), "\0\0\xc0\x3f"s)).values[0], 1.5);
  EXPECT_EQ(readText(npyText(header("<f8"), "\0\0\0\0\0\0\xf8\x3f"s)).values[0],
            1.5);
  EXPECT_EQ(readText(npyText(header("<i4"), "\xfe\xff\xff\xff"s)).values[0],
            -2);
  EXPECT_EQ(readText(npyText(header("<i8"), "\3\0\0\0\0\0\0\0"s)).values[0], 3);
}

TEST(Npy, RefusesOtherFiles) {
  auto failure = [](const std::string &text) {
    std::string what = failureOf([&] { readText(text); });
    return what.substr(what.find(".npy: ") + 6);
  };
  auto header = [](const std::string &type, const std::string &order,
                   const std::string &shape) {
    return "{'descr': '" + type + "', 'fortran_order': " + order +
           ", 'shape': " + shape + ", }";
  };
  EXPECT_EQ(failure("no array"), "is no .npy file");
  EXPECT_EQ(failure(npyText(header(">f4", "False", "(1,)"), "abcd")),
            "has elements of type >f4, which is none of <f2, <f4, <f8, <i4, "
            "<i8 and V2");
  EXPECT_EQ(failure(npyText(header("<f4", "True", "(1,)"), "abcd")),
            "is not in C order");
  EXPECT_EQ(failure(npyText(header("<f4", "False", "(2,)"), "abcd")),
            "has not the bytes that its shape says");
  EXPECT_EQ(failure(npyText(header("<f4", "False", "(-1,)"), "abcd")),
            "has no shape");
  std::string cut = npyText("{    }", "");
  cut[8] = 99; // the header's length
  EXPECT_EQ(failure(cut), "ends in its header");
}
