// Files are read in blocks; whoever asks gets one text.

#include "core/text_file.hpp"

#include <catch2/catch.hpp>

#include <filesystem>
#include <fstream>
#include <string>
#include <unistd.h>

TEST_CASE("a file of any length is read whole", "[core]") {
    const std::filesystem::path file =
        std::filesystem::temp_directory_path() / ("archsim-text-" + std::to_string(getpid()));
    constexpr std::size_t kBlock = 16384; // of the reader; the next are twice as large, and at most 4 MiB
    for (const std::size_t size : {std::size_t{0}, std::size_t{1}, kBlock - 1, kBlock, kBlock + 1, 3 * kBlock,
                                   3 * kBlock + 1, std::size_t{12} << 20}) {
        std::string text(size, ' ');
        for (std::size_t i = 0; i < size; i += 1000) // what changes places shows
            text[i] = static_cast<char>('a' + i / 1000 % 26);
        std::ofstream(file, std::ios::binary) << text;
        INFO(size << " bytes");
        CHECK((archsim::read_text_file(file) == text));
    }
    std::filesystem::remove(file);
}
