"""All tools as one program: `python -m archsim compare resnet50 --deployment edge`, and the command archsim."""

from archsim._tools import run


def main():
    run("archsim")


if __name__ == "__main__":
    main()
