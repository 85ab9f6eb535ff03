//===- ManifestTest.cpp - Good and bad manifests --------------------------===//
//
// Part of Flashloom, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Manifest.h"

#include "TestLibrary.h"

#include <gtest/gtest.h>

using namespace fa;
using namespace fa::rt;
using namespace fa::test;

/// The refusal of a manifest, without "m.json: "; "" where it is accepted.
static std::string refusal(const json &manifest) {
  std::string text =
      failureOf([&] { parseManifest(manifest.dump(), "m.json"); });
  const std::string prefix = "m.json: ";
  if (text.empty())
    return text;
  EXPECT_EQ(text.substr(0, prefix.size()), prefix);
  return text.substr(prefix.size());
}

/// The refusal of a manifest with one kernel, in which the value at a JSON
/// pointer ("/params/0/rank") is replaced.
static std::string refusalWith(const std::string &pointer, const json &value) {
  json kernel = kernelJson("a");
  kernel[json::json_pointer(pointer)] = value;
  return refusal(manifestJson({kernel}));
}

static std::string refusalWithout(const std::string &field) {
  json kernel = kernelJson("a");
  kernel.erase(field);
  return refusal(manifestJson({kernel}));
}

TEST(Manifest, ReadsEveryField) {
  json text = manifestJson({kernelJson("a")});
  Manifest manifest = parseManifest(text.dump(), "m.json");
  EXPECT_EQ(manifest.generator, "test 1");
  ASSERT_EQ(manifest.kernels.size(), 1u);
  const Kernel &kernel = manifest.kernels[0];
  EXPECT_EQ(kernel.name, "a");
  EXPECT_EQ(kernel.file, "a.cubin");
  EXPECT_EQ(kernel.format, Format::Cubin);
  EXPECT_EQ(kernel.archText, "sm_80");
  EXPECT_EQ(kernel.pass, "fwd");
  EXPECT_EQ(kernel.dtype, FA_BF16);
  EXPECT_EQ(kernel.headDim, 128);
  EXPECT_EQ(kernel.headDimV, 128);
  EXPECT_EQ(kernel.variant, "causal");
  EXPECT_EQ(kernel.pipeline, "fa2");
  EXPECT_FALSE(kernel.gqa);
  EXPECT_EQ(kernel.entry, "attention");
  EXPECT_EQ(kernel.hash, "0af3");
  ASSERT_EQ(kernel.params.size(), 6u);
  EXPECT_EQ(kernel.params[3].kind, ParamKind::F32);
  EXPECT_EQ(kernel.params[5].argument, Argument::Lse);
  EXPECT_EQ(kernel.params[5].rank, 3);
  ASSERT_EQ(kernel.grid.size(), 3u);
  EXPECT_EQ(kernel.grid[0].tensor, Argument::Q);
  EXPECT_EQ(kernel.grid[0].dim, 2);
  EXPECT_EQ(kernel.grid[0].tile, 128);
  EXPECT_EQ(kernel.block, 128);
  EXPECT_EQ(kernel.sharedBytes, 98304);
  EXPECT_EQ(kernel.registers, 255);
  EXPECT_EQ(kernel.spillBytes, 0);
  EXPECT_EQ(kernel.ptxas, "13.0.88");
  EXPECT_EQ(kernel.schedule, "br=128 bc=64");
}

TEST(Manifest, ReadsTheExampleOfItsPage) {
  // The documentation's example is what other generators start from.
  FILE *file = std::fopen(FA_LIBRARY_PAGE, "r");
  ASSERT_TRUE(file) << FA_LIBRARY_PAGE;
  std::string page;
  for (int c; (c = std::fgetc(file)) != EOF;)
    page += char(c);
  std::fclose(file);
  size_t begin = page.find("```json\n"), end = page.find("\n```", begin);
  ASSERT_NE(begin, std::string::npos);
  ASSERT_NE(end, std::string::npos);
  std::string example = page.substr(begin + 8, end - begin - 8);
  Manifest manifest = parseManifest(example, "example");
  EXPECT_EQ(manifest.kernels.size(), 2u);
}

TEST(Manifest, AcceptsNoKernelsUnknownFieldsAndIndexes) {
  EXPECT_EQ(refusal(manifestJson({})), "");
  EXPECT_EQ(refusalWith("/later", 1), "");
  EXPECT_EQ(refusalWith("/params/6", {{"kind", "index"}, {"name", "seq_kv"}}),
            "");
}

TEST(Manifest, PtxNeedsNoReportOfPtxas) {
  json kernel = kernelJson("a");
  kernel["format"] = "ptx";
  for (const char *field : {"registers", "spill_bytes", "ptxas"})
    kernel.erase(field);
  EXPECT_EQ(refusal(manifestJson({kernel})), "");
}

TEST(Manifest, RefusesWhatIsNotJson) {
  std::string text = failureOf([] { parseManifest("{\"a\": ", "m.json"); });
  EXPECT_EQ(text.rfind("m.json: not valid JSON: ", 0), 0u) << text;
  text = failureOf(
      [] { parseManifest("[\"" + std::string(100000, 'x'), "m.json"); });
  EXPECT_EQ(text.rfind("m.json: not valid JSON: ", 0), 0u) << text;
  EXPECT_LT(text.size(), 400u);
  EXPECT_EQ(refusal(json::array()),
            "the document must be an object (found [])");
}

/// A manifest with a value inside `depth` arrays or objects in a field that is
/// ignored.
static std::string nested(const char *open, const char *close, int depth) {
  std::string text = "{\"flashloom\": 1, \"generator\": \"x\", \"kernels\": "
                     "[], \"later\": ";
  for (int i = 0; i < depth; ++i)
    text += open;
  text += "1";
  for (int i = 0; i < depth; ++i)
    text += close;
  return text + "}";
}

TEST(Manifest, RefusesDeepNesting) {
  auto refusalOf = [](const std::string &text) {
    return failureOf([&] { parseManifest(text, "m.json"); });
  };
  const std::string rule =
      "m.json: arrays and objects must not be nested more than 32 deep";
  // The document itself is the first level.
  EXPECT_EQ(refusalOf(nested("[", "]", 31)), "");
  EXPECT_EQ(refusalOf(nested("[", "]", 32)), rule);
  EXPECT_EQ(refusalOf(nested("{\"a\":", "}", 31)), "");
  EXPECT_EQ(refusalOf(nested("{\"a\":", "}", 32)), rule);
  EXPECT_EQ(refusalOf(nested("[", "]", 1000000)), rule);
  // Without an end, too: the depth is refused first.
  EXPECT_EQ(refusalOf(std::string(1000000, '[')), rule);
}

TEST(Manifest, RefusesOtherVersions) {
  json manifest = manifestJson({});
  manifest["flashloom"] = 2;
  EXPECT_EQ(refusal(manifest), "flashloom must be 1 (found 2)");
  manifest.erase("flashloom");
  EXPECT_EQ(refusal(manifest), "flashloom is missing");
}

TEST(Manifest, RefusesAMalformedDocument) {
  json manifest = manifestJson({});
  manifest["generator"] = "";
  EXPECT_EQ(refusal(manifest), "generator must not be empty (found \"\")");
  manifest = manifestJson({});
  manifest["kernels"] = 3;
  EXPECT_EQ(refusal(manifest), "kernels must be an array (found 3)");
  manifest["kernels"] = {7};
  EXPECT_EQ(refusal(manifest), "kernels[0] must be an object (found 7)");
}

TEST(Manifest, RefusesTwoKernelsOfOneName) {
  EXPECT_EQ(refusal(manifestJson({kernelJson("a"), kernelJson("a")})),
            "kernels[1].name must not occur twice (found \"a\")");
}

TEST(Manifest, RefusesMissingFields) {
  for (const char *field :
       {"name",    "file",         "format",     "arch",        "pass",
        "dtype",   "head_dim",     "head_dim_v", "variant",     "pipeline",
        "gqa",     "entry",        "hash",       "params",      "grid",
        "block",   "shared_bytes", "registers",  "spill_bytes", "ptxas",
        "schedule"})
    EXPECT_EQ(refusalWithout(field),
              "kernels[0]." + std::string(field) + " is missing");
}

TEST(Manifest, RefusesWrongNames) {
  EXPECT_EQ(refusalWith("/name", ""),
            "kernels[0].name must not be empty (found \"\")");
  EXPECT_EQ(refusalWith("/name", 5),
            "kernels[0].name must be a string (found 5)");
  EXPECT_EQ(refusalWith("/entry", std::string("a\0b", 3)),
            "kernels[0].entry must not contain a zero character (found "
            "\"a\\u0000b\")");
  for (const char *file : {"../a", "/etc/a", "b/a", ".."})
    EXPECT_EQ(refusalWith("/file", file),
              "kernels[0].file must be a file name without a folder (found \"" +
                  std::string(file) + "\")");
}

TEST(Manifest, RefusesUnknownChoices) {
  EXPECT_EQ(refusalWith("/format", "elf"),
            "kernels[0].format must be one of cubin, ptx (found \"elf\")");
  EXPECT_EQ(refusalWith("/pass", "sideways"),
            "kernels[0].pass must be one of fwd (found \"sideways\")");
  EXPECT_EQ(refusalWith("/dtype", "bf17"),
            "kernels[0].dtype must be one of bf16, f16, f32 (found \"bf17\")");
  for (const char *arch : {"sm_8", "sm_90b", "compute_80", "sm_a", "sm_9000",
                           "sm_80aa", "sm_08", "80"})
    EXPECT_EQ(refusalWith("/arch", arch),
              "kernels[0].arch must be like sm_80 or sm_90a (found \"" +
                  std::string(arch) + "\")");
  EXPECT_EQ(refusalWith("/gqa", 1),
            "kernels[0].gqa must be true or false (found 1)");
}

TEST(Manifest, RefusesNumbersOutOfRange) {
  EXPECT_EQ(refusalWith("/head_dim", 0),
            "kernels[0].head_dim must be an integer from 1 to 1024 (found 0)");
  EXPECT_EQ(
      refusalWith("/head_dim_v", 1025),
      "kernels[0].head_dim_v must be an integer from 1 to 1024 (found 1025)");
  EXPECT_EQ(refusalWith("/block", 1025),
            "kernels[0].block must be an integer from 1 to 1024 (found 1025)");
  EXPECT_EQ(refusalWith("/block", 128.5),
            "kernels[0].block must be an integer from 1 to 1024 (found 128.5)");
  EXPECT_EQ(refusalWith("/shared_bytes", 18446744073709551615u),
            "kernels[0].shared_bytes must be an integer from 0 to 2147483647 "
            "(found 18446744073709551615)");
  EXPECT_EQ(refusalWith("/registers", -1),
            "kernels[0].registers must be an integer from 0 to 255 (found -1)");
  EXPECT_EQ(refusalWith("/spill_bytes", "none"),
            "kernels[0].spill_bytes must be an integer from 0 to 2147483647 "
            "(found \"none\")");
}

TEST(Manifest, RefusesWrongParams) {
  const std::string at = "kernels[0].params";
  EXPECT_EQ(refusalWith("/params", json::array()),
            at + " must have a parameter named q (found [])");
  EXPECT_EQ(refusalWith("/params/0/name", "qq"), at + "[0].dtype is missing");
  EXPECT_EQ(refusalWith("/params/0/name", "k"),
            at + "[1].name must not occur twice (found \"k\")");
  EXPECT_EQ(refusalWith("/params/0/kind", "f32"),
            at + "[0].kind must be tensor for q (found \"f32\")");
  EXPECT_EQ(refusalWith("/params/3/kind", "f64"),
            at + "[3].kind must be one of tensor, f32, index (found \"f64\")");
  EXPECT_EQ(refusalWith("/params/5/rank", 4),
            at + "[5].rank must be 3 for lse (found 4)");
  EXPECT_EQ(refusalWith("/params/0/rank", 9),
            at + "[0].rank must be an integer from 0 to 4 (found 9)");
  json kernel = kernelJson("a");
  kernel["params"].erase(5);
  EXPECT_EQ(refusal(manifestJson({kernel}))
                .rfind(at + " must have a parameter named lse (found ", 0),
            0u);
}

TEST(Manifest, RefusesWrongGrids) {
  const std::string at = "kernels[0].grid";
  EXPECT_EQ(refusalWith("/grid", json::array()),
            at + " must not be empty (found [])");
  EXPECT_EQ(refusalWith("/grid/0/tensor", "scale"),
            at + "[0].tensor must name a tensor of params that is no "
                 "extra (found \"scale\")");
  EXPECT_EQ(refusalWith("/grid/0/dim", 4),
            at + "[0].dim must be an integer from 0 to 3 (found 4)");
  EXPECT_EQ(refusalWith("/grid/0/tile", 0),
            at + "[0].tile must be an integer from 1 to 2147483647 (found 0)");
}

/// What a message shows of a value.
static std::string excerpt(const json &value) {
  json manifest = manifestJson({});
  manifest["generator"] = value;
  std::string text = refusal(manifest);
  const std::string rule = "generator must be a string (found ";
  EXPECT_EQ(text.substr(0, rule.size()), rule);
  return text.substr(rule.size(), text.size() - rule.size() - 1);
}

TEST(Manifest, ShowsValuesAsJson) {
  for (const char *text : {"null", "true", "-3", "1.5", "[]", "{}", "[[],{}]",
                           "[1,\"a\\n\",{\"b\":[2,3],\"c\\\"\":null}]"})
    EXPECT_EQ(excerpt(json::parse(text)), text);
}

TEST(Manifest, ShortensLongValues) {
  std::string text = refusalWith("/dtype", std::string(200, 'x'));
  EXPECT_LT(text.size(), 140u);
  EXPECT_NE(text.find("...)"), std::string::npos);
  // 80 characters are shown whole, one more is not.
  json list = {std::string(76, 'x')};
  EXPECT_EQ(excerpt(list), list.dump());
  list = {std::string(77, 'x')};
  EXPECT_EQ(excerpt(list), list.dump().substr(0, 80) + "...");
  // Long keys, many elements, and deep ones.
  EXPECT_EQ(excerpt({{std::string(1000, 'k'), 1}}).size(), 83u);
  EXPECT_EQ(excerpt(std::vector<int>(1000000, 7)).size(), 83u);
  EXPECT_EQ(excerpt({{1000, json(std::string(1000, 'x'))}}).size(), 83u);
}

TEST(Manifest, ShortensBetweenCharacters) {
  // Each character has two bytes; the bracket and quote make 80 even, the
  // letter makes it odd.
  std::string characters;
  for (int i = 0; i < 100; ++i)
    characters += "\xC3\xA9";
  EXPECT_EQ(excerpt({characters}), "[\"" + characters.substr(0, 78) + "...");
  EXPECT_EQ(excerpt({"x" + characters}),
            "[\"x" + characters.substr(0, 76) + "...");
}
