"""A small model of letters on invented notes, where each writer is protected with all of her notes.

Run it with: python examples/deep_text.py
"""

import random

import torch
from torch import nn

import discreet as dp

LETTERS, SPAN = " abcdefghijklmnopqrstuvwxyz.", 6
WORDS = (["the"], ["cat", "dog"], ["sat", "ran", "hid"], ["in the"], ["sun.", "shed."])


class NextLetter(nn.Module):
    """What letter follows six others."""

    def __init__(self) -> None:
        super().__init__()
        self.letters = nn.Embedding(len(LETTERS), 12)
        self.memory = nn.LSTM(12, 24, batch_first=True)
        self.out = nn.Linear(24, len(LETTERS))

    def forward(self, codes: torch.Tensor) -> torch.Tensor:
        return self.out(self.memory(self.letters(codes))[0][:, -1])


def notes(writers: int, seed: int) -> tuple[torch.Tensor, torch.Tensor, list[int]]:
    """Six letters, the one that follows, and whose note it is."""
    draw, spans, whose = random.Random(seed), [], []
    for writer in range(writers):
        codes = [LETTERS.index(letter) for letter in " " * SPAN + " ".join(map(draw.choice, WORDS))]
        spans += [codes[end - SPAN : end + 1] for end in range(SPAN, len(codes))]
        whose += [writer] * (len(codes) - SPAN)
    letters = torch.tensor(spans)
    return letters[:, :-1], letters[:, -1], whose


def main() -> None:
    """Train at ε = 4 for each writer, and let the net write."""
    torch.manual_seed(0)
    spans, following, whose = notes(2000, seed=1)
    net = dp.deep.replaced(NextLetter())  # an LSTM as cells, which can be clipped person by person
    plan = dp.deep.plan(rows=2000, batch_size=125, epochs=8, epsilon=4, delta="1e-5")
    loss, optimizer = nn.CrossEntropyLoss(reduction="none"), dp.deep.Adam(net.parameters(), lr=0.02)
    trainer = dp.deep.Trainer(net, loss, optimizer, plan=plan, clip=1, max_rows=8, average=None)
    trainer.fit((spans, following), units=whose)
    text = " " * SPAN
    while len(text) < 60 and not text.endswith("."):
        codes = torch.tensor([[LETTERS.index(letter) for letter in text[-SPAN:]]])
        text += LETTERS[int(net(codes).argmax())]
    print(f"It writes: {text.strip()}")
    print(trainer.privacy_.words())


if __name__ == "__main__":
    main()
