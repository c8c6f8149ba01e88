# The tools for macOS and Linux: those for Node.js, which are compiled for no machine. OWNER and the checksum are those of the release.
class Archsim < Formula
  desc "Estimates what neural networks cost on chips, without running them"
  homepage "https://example.org/OWNER/libarchsim"
  url "https://example.org/OWNER/libarchsim/releases/download/v0.1.0/archsim-0.1.0.tgz"
  sha256 "0000000000000000000000000000000000000000000000000000000000000000"
  license "Apache-2.0"

  depends_on "node"

  def install
    system "npm", "install", *std_npm_args
    bin.install_symlink Dir["#{libexec}/bin/*"]
  end

  test do
    assert_match "Fastest: ", shell_output("#{bin}/archsim compare resnet50 --deployment edge")
  end
end
