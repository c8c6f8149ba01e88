// How much of a model runs: batch, sizes, and the prompt that a language model answers.

#include "archsim/core/finding.hpp"
#include "core/lists.hpp"
#include "core/parse_number.hpp"
#include "core/text.hpp"
#include "fields/field_places.hpp"
#include "ops/given_values.hpp"

#include <fmt/ranges.h>

namespace archsim {

constexpr std::int64_t kMostItems = 1 << 20, kMostTokens = 1 << 22, kMostPositions = 1 << 24;

/// "NAME=1,3,224" of each; fractions as number_text() has them.
template <class Lists>
static std::vector<std::string> list_texts(const Lists& lists) {
    return mapped(lists, [](const auto& list) {
        return fmt::format("{}={}", list.first, fmt::join(list.second, ","));
    });
}

static std::vector<std::string> dim_texts(const Question& question) {
    return mapped(question.workload.sizes.dims,
                  [](const auto& size) { return fmt::format("{}={}", size.first, size.second); });
}

/// The sides of "NAME=VALUES".
static std::pair<std::string, std::string> sides_of(const std::string& text, const std::string& name) {
    const std::size_t equals = text.find('=');
    if (equals == 0 || equals == std::string::npos)
        throw UsageError(fmt::format("{}: \"{}\" is not of the form NAME=VALUE", name, text));
    return {text.substr(0, equals), text.substr(equals + 1)};
}

static void give_reals(const std::string& text, const std::string& name, Question& question) {
    const auto [input, list] = sides_of(text, name);
    std::vector<double> values;
    for (const std::string& piece : split(list, ',')) {
        const auto value = parse_real(piece);
        if (!value)
            throw UsageError(fmt::format("{} {}: \"{}\" is not a number", name, input, piece));
        values.push_back(*value);
    }
    question.workload.sizes.input_real_values[input] = std::move(values);
}

/// "NAME=1x3,1x4": the shapes of the elements, in order; a scalar is "scalar".
static std::vector<std::string> sequence_texts(const Question& question) {
    std::vector<std::string> texts;
    for (const auto& [name, shapes] : question.workload.sizes.input_sequences) {
        std::vector<std::string> elements;
        for (const Shape& shape : shapes)
            elements.push_back(shape.empty() ? "scalar" : fmt::format("{}", fmt::join(shape, "x")));
        texts.push_back(fmt::format("{}={}", name, fmt::join(elements, ",")));
    }
    return texts;
}

static void give_sequence(const std::string& text, const std::string& name, Question& question) {
    const auto [input, list] = sides_of(text, name);
    std::vector<Shape> shapes;
    for (const std::string& element : list.empty() ? std::vector<std::string>{} : split(list, ',')) {
        Shape& shape = shapes.emplace_back();
        for (const std::string& size : element == "scalar" ? std::vector<std::string>{} : split(element, 'x'))
            shape.push_back(whole_of(size, name, 0, INT64_MAX));
    }
    question.workload.sizes.input_sequences[input] = std::move(shapes);
}

/// A field of the prompt: what it has there, or nothing without one.
template <class Get>
static auto of_prompt(Get get) {
    return [get](const Question& q) {
        return q.workload.prompt ? get(*q.workload.prompt) : std::vector<std::string>{};
    };
}

/// The prompt, made where there is none yet.
static Prompt& new_prompt(Question& question) {
    if (!question.workload.prompt)
        question.workload.prompt.emplace();
    return *question.workload.prompt;
}

static std::vector<std::string> none(const Question&) {
    return {};
}

/// A whole number of the prompt from 1; `zero`: whether 0 is a number there, or none.
template <class T>
static QuestionField prompt_number(QuestionField row, T Prompt::*member, std::int64_t high, bool zero) {
    row.kind = FieldKind::whole;
    row.low = 1;
    row.high = high;
    row.print = of_prompt([=](const Prompt& p) {
        const auto number = static_cast<double>(p.*member);
        return text_or_none(zero || number > 0 ? std::optional(number_text(number)) : std::nullopt);
    });
    row.parse = [=](const std::string& text, const std::string& name, Question& q) {
        const std::int64_t number = whole_of(text, name, 1, high); // no prompt where it is none
        new_prompt(q).*member = static_cast<T>(number);
    };
    return row;
}

/// Gives a size that --dim can give, too. Throws UsageError where it did.
static void give_size(Question& question, const char* dim, std::int64_t size, const std::string& name) {
    if (!question.workload.sizes.dims.emplace(dim, size).second)
        throw UsageError(fmt::format("{}: --dim gives {}, too", name, dim));
}

/// "1024", or "1024x768": width and height.
static void give_image_size(const std::string& text, const std::string& name, Question& question) {
    constexpr std::int64_t kMostPixels = 1 << 16;
    const std::vector<std::string> sides = split(text, 'x');
    if (sides.size() > 2)
        throw UsageError(fmt::format("{}: expected 1024 or 1024x768, got \"{}\"", name, text));
    const std::int64_t width = whole_of(sides.front(), name, 1, kMostPixels);
    give_size(question, "height", whole_of(sides.back(), name, 1, kMostPixels), name);
    give_size(question, "width", width, name);
}

/// A size of image and video generators, which the dims state again.
static QuestionField generator_field(const char* key, const char* help) {
    constexpr std::int64_t kMost = 1'000'000;
    return {.key = key,
            .kind = FieldKind::whole,
            .help = help,
            .value = "N",
            .group = kFurtherGroup,
            .of = FieldOf::pass,
            .low = 1,
            .high = kMost,
            .print = none,
            .parse = [key](const std::string& text, const std::string& name, Question& q) {
                give_size(q, key, whole_of(text, name, 1, kMost), name);
            }};
}

std::string parallel_text(const Parallelism& way) {
    const std::string text = to_string(way);
    return text.find('=') == std::string::npos ? "tp=1" : text;
}

std::vector<QuestionField> workload_fields() {
    return {
        {.key = "batch_size",
         .aliases = {"batch"},
         .kind = FieldKind::whole,
         .help = "items per inference",
         .value = "N",
         .fallback = "1",
         .of = FieldOf::pass,
         .low = 1,
         .high = kMostItems,
         .print = [](const Question& q) { return text_or_none(fmt::format("{}", q.workload.batch)); },
         .parse = into_whole(member_at(&Question::workload, &Workload::batch), 1, kMostItems)},
        {.key = "dims",
         .aliases = {"sizes"},
         .flag = "--dim",
         .kind = FieldKind::sizes,
         .help = "size of a symbolic dimension, NAME=VALUE (repeatable)",
         .value = "NAME=VALUE",
         .print = dim_texts,
         .parse = [](const std::string& text, const std::string& name,
                     Question& q) { give_dim(q.workload.sizes, text, name); }},
        {.key = "inputs",
         .flag = "--input",
         .kind = FieldKind::lists,
         .help = "values of a small input that decides shapes, NAME=1,3,224 (repeatable)",
         .value = "NAME=VALUES",
         .group = kFurtherGroup,
         .print = [](const Question& q) { return list_texts(q.workload.sizes.input_values); },
         .parse = [](const std::string& text, const std::string& name,
                     Question& q) { give_input(q.workload.sizes, text, name); }},
        {.key = "input_shapes",
         .flag = "--input-shape",
         .kind = FieldKind::lists,
         .help = "whole shape of an input, NAME=1,3,224,224 (repeatable)",
         .value = "NAME=SIZES",
         .group = kFurtherGroup,
         .print = [](const Question& q) { return list_texts(q.workload.sizes.input_shapes); },
         .parse =
             [](const std::string& text, const std::string& name, Question& q) {
                 if (text.ends_with('=') && text.size() > 1) // a scalar
                     q.workload.sizes.input_shapes[text.substr(0, text.size() - 1)] = {};
                 else
                     give_shape(q.workload.sizes, text, name);
             }},
        {.key = "real_inputs",
         .of_tools = false,
         .kind = FieldKind::reals,
         .help = "values of a small input of fractions that decides shapes, NAME=1,1,0.5,2",
         .print = [](const Question& q) { return list_texts(q.workload.sizes.input_real_values); },
         .parse = give_reals},
        {.key = "input_sequences",
         .of_tools = false,
         .kind = FieldKind::texts,
         .help = "shapes of the elements of an input that is a sequence, NAME=1x3,1x4",
         .print = sequence_texts,
         .parse = give_sequence},
        generator_field("steps", "denoising steps (default: the model's)"),
        {.key = "image_size",
         .help = "pixels of each image: 1024, or 1024x768 (width x height)",
         .value = "PIXELS",
         .group = kFurtherGroup,
         .of = FieldOf::pass,
         .print = none,
         .parse = give_image_size},
        generator_field("frames", "frames of a video"),
        prompt_number({.key = "prompt_tokens",
                       .help = "answer a prompt of N tokens",
                       .value = "N",
                       .group = kSeveralGroup,
                       .of = FieldOf::answer,
                       .usual = none},
                      &Prompt::tokens, kMostTokens, true),
        truth_field<Question>({.key = "single_pass",
                               .flag = "--pass",
                               .help = "one forward pass of a language model (default: an answer of 128 "
                                       "tokens to a prompt of 512)",
                               .group = kSeveralGroup,
                               .of = FieldOf::pass},
                              member_at(&Question::workload, &Workload::single_pass)),
        prompt_number({.key = "generate_tokens",
                       .help = "with M tokens, one step each",
                       .value = "M",
                       .group = kSeveralGroup,
                       .of = FieldOf::answer,
                       .usual = none},
                      &Prompt::generate, kMostTokens, true),
        prompt_number(
            {.key = "context",
             .help =
                 "with a prompt: positions that caches and static shapes are made for (default: prompt and "
                 "answer)",
             .value = "N",
             .group = kSeveralGroup,
             .of = FieldOf::answer},
            &Prompt::context, kMostPositions, false),
        {.key = "sampling",
         .help = "with a prompt: how tokens are chosen, the likeliest or one of the likeliest (stacks that "
                 "order the vocabulary for it take longer)",
         .group = kSeveralGroup,
         .choices = {"greedy", "top-p"},
         .of = FieldOf::answer,
         .print = of_prompt([](const Prompt& p) { return text_or_none(p.sampled ? "top-p" : "greedy"); }),
         .parse =
             [](const std::string& text, const std::string&, Question& q) {
                 if (q.workload.prompt || text != "greedy") // which a single pass does as well
                     new_prompt(q).sampled = text == "top-p";
             },
         .usual = of_prompt([](const Prompt&) { return text_or_none("greedy"); })},
        {.key = "parallel",
         .help =
             "with a prompt: how devices share the model, such as tp=4,pp=2,dp=2,ep=8, in place of --devices",
         .value = "WAYS",
         .group = kSeveralGroup,
         .of = FieldOf::answer,
         .commas = true,
         .print = of_prompt([](const Prompt& p) {
             if (!p.parallel)
                 return std::vector<std::string>{};
             return text_or_none(parallel_text(*p.parallel));
         }),
         .parse =
             [](const std::string& text, const std::string& name, Question& q) {
                 Prompt& prompt = new_prompt(q);
                 if (text.empty())
                     throw UsageError(name + ": give tp=N, pp=N, dp=N or ep=N");
                 prompt.parallel = parse_parallelism(text);
             }},
        prompt_number({.key = "beams",
                       .of_tools = false,
                       .help = "sequences that share a prompt (beam search); of saturated serving",
                       .fallback = "1",
                       .usual = of_prompt([](const Prompt&) { return text_or_none("1"); })},
                      &Prompt::beams, kMostItems, true),
    };
}

} // namespace archsim
