// A family or the only device of a stack that is left out: public facts of its own come before what others
// state.

#include "fit/errors/leave_out.hpp"
#include "support/shipped_session.hpp"

#include <catch2/catch.hpp>

using namespace archsim;
using namespace archsim::test;

namespace {

/// A session of what public facts alone say.
Session reverted_session() {
    SessionOptions options;
    options.data = ARCHSIM_SOURCE_DIR;
    options.tuned = TunedFacts::reverted;
    return Session(options);
}

double predicted(const LeftOutEstimators& estimators, const MeasuredRow& row, LeaveOut what) {
    const Prediction prediction = predict_left_out(estimators, {row}, what).front();
    INFO(prediction.reason);
    REQUIRE(prediction.ok());
    return prediction.predicted;
}

} // namespace

TEST_CASE("what public facts say of a family's kernels outranks what other families reach",
          "[run][left_out]") {
    const Session session = reverted_session();
    const RowEstimator shipped(shipped_session()), reverted(session);
    MeasuredRow row;
    row.id = "vgg";
    row.model = "vgg16"; // its time is that of dense products
    row.image_size = 224;
    row.batch = 8;
    row.precision = "fp32";
    row.hardware = "Xeon-8380";
    row.runtime = "onnxruntime-cpu";
    row.scope = "kernel";
    row.value = 1;
    const double stated = predicted({shipped, reverted, reverted}, row, LeaveOut::family);
    // Where no value differs from the shipped one nobody said anything before: products of other families.
    const double elsewhere = predicted({reverted, reverted, reverted}, row, LeaveOut::family);
    CHECK(stated < 0.75 * elsewhere);
    const Prediction direct = shipped(row); // the fit is near what the kernels' source says
    CHECK(stated == Approx(direct.predicted).epsilon(0.25));
}

TEST_CASE("without its only device a stack does what public facts say of it", "[run][left_out]") {
    const Session session = reverted_session();
    const RowEstimator shipped(shipped_session()), reverted(session);
    MeasuredRow row; // RKLLM has rows of this chip alone; products decide the time of a prompt
    row.id = "prompt";
    row.model = "minicpm-v-2_6-language";
    row.phase = "prefill";
    row.prompt_tokens = "64";
    row.batch = 1;
    row.precision = "int8";
    row.hardware = "RK3588-NPU";
    row.runtime = "rkllm";
    row.scope = "end_to_end";
    row.value = 1;
    const Prediction direct = reverted(row);
    REQUIRE(direct.ok());
    CHECK(predicted({shipped, shipped, reverted}, row, LeaveOut::device) ==
          Approx(direct.predicted).epsilon(0.05));
    // Where nobody says anything before, products of other stacks.
    CHECK(predicted({reverted, reverted, reverted}, row, LeaveOut::device) < 0.75 * direct.predicted);
}
