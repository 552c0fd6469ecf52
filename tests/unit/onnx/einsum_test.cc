// Einsum compared with a direct sum over all of its labels; ScatterND; and what both reject.
#include "run_model.h"

namespace hone::onnx {
namespace {

std::vector<float> Values(const Shape& shape, int seed) {
  return SomeValues(TensorType{DType::Float(32), shape}.Elements(), seed);
}

// Operands x0, x1, .. with these shapes; those in `constant` are initialisers.
ModelMaker Einsum(const std::string& equation, const std::vector<Shape>& shapes, const std::string& constant = "") {
  ModelMaker m;
  std::vector<std::string> names;
  for (size_t i = 0; i < shapes.size(); ++i) {
    names.push_back("x" + std::to_string(i));
    if (names.back() == constant) {
      m.Floats(names.back(), shapes[i], Values(shapes[i], static_cast<int>(i)));
    } else {
      m.Input(names.back(), shapes[i]);
    }
  }
  m.Node("Einsum", names, "y").Set("equation", equation.c_str());
  m.Output("y");
  return m;
}

// `equation`: letters, a comma for each further operand, "->".
std::vector<double> Direct(const std::string& equation, const std::vector<Shape>& shapes, Shape* out_shape) {
  std::vector<std::string> terms(1);
  for (char ch : equation.substr(0, equation.find("->"))) {
    if (ch == ',') {
      terms.emplace_back();
    } else {
      terms.back() += ch;
    }
  }
  const std::string out = equation.substr(equation.find("->") + 2);
  std::map<char, int64_t> extent, at;
  for (size_t t = 0; t < terms.size(); ++t) {
    for (size_t i = 0; i < terms[t].size(); ++i) {
      int64_t& known = extent[terms[t][i]];
      known = std::max(known, shapes[t][i]);
      at[terms[t][i]] = 0;
    }
  }
  std::vector<std::vector<float>> values;
  for (size_t t = 0; t < shapes.size(); ++t) values.push_back(Values(shapes[t], static_cast<int>(t)));
  out_shape->clear();
  for (char ch : out) out_shape->push_back(extent[ch]);
  std::vector<double> result(Values(*out_shape, 0).size(), 0.0);
  const auto offset = [&](const std::string& term, const Shape& shape) {
    int64_t sum = 0;
    for (size_t i = 0; i < term.size(); ++i) sum = sum * shape[i] + (shape[i] == 1 ? 0 : at[term[i]]);
    return static_cast<size_t>(sum);
  };
  for (bool more = true; more;) {
    double product = 1;
    for (size_t t = 0; t < terms.size(); ++t) product *= values[t][offset(terms[t], shapes[t])];
    result[offset(out, *out_shape)] += product;
    more = false;
    for (auto& [label, index] : at) {
      if (++index < extent[label]) {
        more = true;
        break;
      }
      index = 0;
    }
  }
  return result;
}

TEST(Einsum, MeansWhatItsEquationSays) {
  struct Row {
    const char* equation;
    const char* plain;  // the same without ellipses, with an explicit result
    std::vector<Shape> shapes;
  };
  const Row rows[] = {
      {"ij->ji", "ij->ji", {{2, 3}}},
      {"ijk->ki", "ijk->ki", {{2, 3, 4}}},
      {"ij->", "ij->", {{2, 3}}},
      {"...j->...", "aj->a", {{2, 3}}},
      {"i...->...", "iab->ab", {{2, 3, 4}}},
      {"ba", "ba->ab", {{2, 3}}},
      {"ij,jk->ik", "ij,jk->ik", {{2, 3}, {3, 4}}},
      {"ij,jk", "ij,jk->ik", {{2, 3}, {3, 4}}},
      {"ij,kj->ki", "ij,kj->ki", {{2, 3}, {4, 3}}},
      {"bij,bjk->bik", "bij,bjk->bik", {{2, 3, 4}, {2, 4, 5}}},
      {"bij, bkj -> bki", "bij,bkj->bki", {{2, 3, 4}, {2, 5, 4}}},
      // As torchvision's MaxViT has them.
      {"B G H I D, B G H J D -> B G H I J", "bghid,bghjd->bghij", {{1, 2, 3, 4, 5}, {1, 2, 3, 6, 5}}},
      {"BGHIJ,BGHJD->BGHID", "bghij,bghjd->bghid", {{1, 2, 3, 4, 6}, {1, 2, 3, 6, 5}}},
      {"i,i->", "i,i->", {{5}, {5}}},
      {"i,i", "i,i->", {{5}, {5}}},
      {"i,j->ij", "i,j->ij", {{3}, {4}}},
      {"i,j->ji", "i,j->ji", {{3}, {4}}},
      {"ij,ij->ij", "ij,ij->ij", {{3, 4}, {3, 4}}},
      {"bi,bj->jib", "bi,bj->jib", {{2, 3}, {2, 4}}},
      {"ijk,jkl->il", "ijk,jkl->il", {{2, 3, 4}, {3, 4, 5}}},
      {"ijkl,lk->ij", "ijkl,lk->ij", {{2, 3, 4, 5}, {5, 4}}},
      {"ij,k->j", "ij,k->j", {{2, 3}, {4}}},
      {"...ij,...jk->...ik", "abij,bjk->abik", {{2, 3, 4, 5}, {3, 5, 2}}},
      {"...ij,jk", "abij,jk->abik", {{2, 3, 4, 5}, {5, 2}}},
      {"bij,bjk->bik", "bij,bjk->bik", {{1, 3, 4}, {5, 4, 2}}},  // an extent of 1 is repeated
      // Diagonals.
      {"ii->i", "ii->i", {{4, 4}}},
      {"ii", "ii->", {{4, 4}}},
      {"iii->i", "iii->i", {{3, 3, 3}}},
      {"iji->j", "iji->j", {{3, 2, 3}}},
      {"...ii->...i", "abii->abi", {{2, 3, 4, 4}}},
      {"iijj->ji", "iijj->ji", {{2, 2, 3, 3}}},
      {"ii->i", "ii->i", {{1, 1}}},
      {"ii,ij->j", "ii,ij->j", {{3, 3}, {3, 4}}},
      {"ij,jj->ij", "ij,jj->ij", {{2, 3}, {3, 3}}},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(row.equation);
    Shape shape;
    const std::vector<double> wanted = Direct(row.plain, row.shapes, &shape);
    for (const char* constant : {"", "x1", "x0"}) {
      if (row.shapes.size() == 1 && *constant != 0) continue;
      const auto model = Must(ImportBytes(Einsum(row.equation, row.shapes, constant)));
      std::map<std::string, TensorData> inputs;
      for (size_t i = 0; i < row.shapes.size(); ++i) {
        const std::string name = "x" + std::to_string(i);
        if (name != constant) inputs[name] = Values(row.shapes[i], static_cast<int>(i));
      }
      const auto got = Must(graph::RunReference(model.graph, model.values, inputs, 1));
      EXPECT_EQ(model.graph.FindType("y")->shape, shape);
      EXPECT_EQ(got.at("y"), wanted);
    }
  }
}

// Plain matrices need a single product, and with a constant one a dense layer.
TEST(Einsum, NeedsNothingElseWhereItIsAProduct) {
  const auto attention = Must(ImportBytes(Einsum("bghij,bghjd->bghid", {{1, 2, 3, 4, 6}, {1, 2, 3, 6, 5}})));
  ASSERT_EQ(attention.graph.nodes.size(), 1u);
  EXPECT_EQ(attention.graph.nodes[0].workload.Text(), "matmul(f32[1,2,3,4,6], f32[1,2,3,6,5])");
  const auto layer = Must(ImportBytes(Einsum("ij,kj->ik", {{2, 3}, {4, 3}}, "x1")));
  ASSERT_EQ(layer.graph.nodes.size(), 1u);
  EXPECT_EQ(layer.graph.nodes[0].workload.Text(), "dense(f32[2,3], f32[4,3])");
}

TEST(Einsum, Refusals) {
  const std::string node = "node `y_node` (Einsum, opset 13): ";
  EXPECT_EQ(Refusal(Einsum("ij,jk,kl->il", {{2, 3}, {3, 4}, {4, 5}})),
            node + "its equation is of 3 operands; one or two are supported");
  EXPECT_EQ(Refusal(Einsum("ij->jj", {{2, 2}})), node + "its equation's result `jj` names an axis twice");
  EXPECT_EQ(Refusal(Einsum("iij->j", {{2, 3, 4}})),
            node + "[2,3,4] does not fit its equation: an axis that it names twice is 2 and 3");
  EXPECT_EQ(Refusal(Einsum("ij", {{2, 2}, {2, 2}})), node + "its equation is of 1 operands, it has 2");
  EXPECT_EQ(Refusal(Einsum("ijk->i", {{2, 2}})), node + "operand 0 has 2 dimensions, its equation names 3");
  EXPECT_EQ(Refusal(Einsum("i->i", {{2, 2}})), node + "operand 0 has 2 dimensions, its equation names 1");
  EXPECT_EQ(Refusal(Einsum("", {{2, 2}})), node + "operand 0 has 2 dimensions, its equation names 0");
  EXPECT_EQ(Refusal(Einsum("ij->ik", {{2, 2}})), node + "its equation has an axis in the result that no operand has");
  for (const char* wrong : {"i\nj->ij", "i.j->ij", "ij->i->j", "ij->i1", "......->...", "......", "...i...->i"}) {
    EXPECT_EQ(Refusal(Einsum(wrong, {{2, 2}})), node + "its equation must be letters, `...`, commas and one `->`");
  }
  EXPECT_EQ(Refusal(Einsum("ij,jk->ik", {{2, 3}, {4, 5}})),
            node + "[2,3] and [4,5] do not fit its equation: an axis of both is 3 and 4");
  EXPECT_EQ(Refusal(Einsum("ij,jk->ik", {{2, 1}, {4, 5}})),
            node + "[2,1] and [4,5] do not fit its equation: an axis of both is 1 and 4");
}

// y = x + the result of ScatterND on constants.
ModelMaker Scatter(const Shape& places, const std::vector<int64_t>& indices, const Shape& shape,
                   const std::vector<float>& updates) {
  ModelMaker m(16);
  m.Input("x", {3, 2});
  m.Floats("data", {3, 2}, {0, 1, 2, 3, 4, 5});
  pb::TensorProto& at = m.Ints("at", indices);
  at.clear_dims();
  for (int64_t extent : places) at.add_dims(extent);
  m.Floats("updates", shape, updates);
  m.Node("ScatterND", {"data", "at", "updates"}, "mask");
  m.Node("Add", {"x", "mask"}, "y");
  m.Output("y");
  return m;
}

TEST(ScatterNd, OfConstantsIsComputed) {
  struct Row {
    Shape places, indices, shape;
    std::vector<float> updates, wanted;
  };
  const Row rows[] = {
      {{2, 1}, {2, 0}, {2, 2}, {10, 11, 12, 13}, {12, 13, 2, 3, 10, 11}},      // whole rows
      {{2, 2}, {1, 1, -1, -2}, {2}, {7, 8}, {0, 1, 2, 7, 8, 5}},               // elements, also counted from the end
      {{1, 3, 2}, {0, 0, 1, 0, 0, 0}, {1, 3}, {7, 8, 9}, {9, 1, 8, 3, 4, 5}},  // the last one counts
      {{1}, {1}, {2}, {7, 8}, {0, 1, 7, 8, 4, 5}},                             // one place
  };
  for (const Row& row : rows) {
    const auto model = Must(ImportBytes(Scatter(row.places, row.indices, row.shape, row.updates)));
    ASSERT_EQ(model.graph.nodes.size(), 1u);
    EXPECT_EQ(model.values.at(model.graph.nodes[0].inputs[1]).Doubles(),
              (std::vector<double>{row.wanted.begin(), row.wanted.end()}));
  }
}

TEST(ScatterNd, Refusals) {
  const std::string node = "node `mask_node` (ScatterND, opset 16): ";
  EXPECT_EQ(Refusal(Scatter({1, 2}, {0, 2}, {1}, {7})), node + "index 2 is outside of axis 1 of [3,2]");
  EXPECT_EQ(Refusal(Scatter({1, 2}, {-4, 0}, {1}, {7})), node + "index -4 is outside of axis 0 of [3,2]");
  EXPECT_EQ(Refusal(Scatter({1, 3}, {0, 0, 0}, {1}, {7})), node + "its indices [1,3] do not fit its data [3,2]");
  EXPECT_EQ(Refusal(Scatter({}, {0}, {1}, {7})), node + "its indices [] do not fit its data [3,2]");
  EXPECT_EQ(Refusal(Scatter({1, 1}, {0}, {1}, {7})), node + "its updates must be float32[1,2], are float32[1]");
  ModelMaker adds = Scatter({1, 2}, {0, 0}, {1}, {7});
  adds.FirstNode().Set("reduction", "add");
  EXPECT_EQ(Refusal(adds), node + "only the reduction `none` is supported");
  ModelMaker runs = Scatter({1, 2}, {0, 0}, {1}, {7});
  runs.FirstNode()->set_input(0, "x");
  EXPECT_EQ(Refusal(runs), node + "its input `x` is computed when the network runs; it must be constant");
}

}  // namespace
}  // namespace hone::onnx
