"""A small convolutional net on invented pictures: does an 8 × 8 picture show a bar, a plank or a cross?

Run it with: python examples/deep_image.py
"""

import torch
from torch import nn

import discreet as dp

KINDS = ("bar", "plank", "cross")


def pictures(count: int, seed: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Invented pictures with their kind; each would be a person's."""
    draw = torch.Generator().manual_seed(seed)
    kinds = torch.randint(3, (count,), generator=draw)
    places = torch.randint(1, 7, (count, 2), generator=draw)
    shown = 0.4 * torch.randn(count, 1, 8, 8, generator=draw)
    for picture, kind, (row, column) in zip(shown, kinds.tolist(), places.tolist(), strict=True):
        if kind != 0:
            picture[0, row] += 1
        if kind != 1:
            picture[0, :, column] += 1
    return shown, kinds


def main() -> None:
    """Train at ε = 2, and say how often the net is right on pictures that it has not seen."""
    torch.manual_seed(0)
    net = nn.Sequential(
        nn.Conv2d(1, 8, 3, padding=1), nn.Tanh(), nn.AvgPool2d(2), nn.Conv2d(8, 8, 3), nn.Tanh(), nn.Flatten(),
        nn.Linear(32, 3),
    )  # fmt: skip
    plan = dp.deep.plan(rows=4000, batch_size=400, epochs=8, epsilon=2, delta="1e-5")
    print(plan.words())
    trainer = dp.deep.Trainer(
        net,
        nn.CrossEntropyLoss(reduction="none"),
        torch.optim.SGD(net.parameters(), lr=1, momentum=0.9),
        plan=plan,
        clip=1,
        schedule=lambda progress: min(1, 2 * (1 - progress)),
    )
    trainer.fit(pictures(4000, seed=1))
    shown, kinds = pictures(1000, seed=2)
    right = (net(shown).argmax(1) == kinds).float().mean().item()
    print(f"Right for {right:.0%} of new pictures of a {', a '.join(KINDS[:2])} or a {KINDS[2]}.")
    print(trainer.privacy_.words())


if __name__ == "__main__":
    main()
