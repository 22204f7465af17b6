"""How well a model predicts persons that it was not trained on, and each group of them."""
