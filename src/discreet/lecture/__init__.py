"""What lectures show: curves of errors and prices, measured beside their theory, and the picture made of people's bits.

curve, measured      a curve as a value, and errors of many runs with their intervals
means, trust         errors of a mean against n and ε · with nobody trusted, a shuffler, a curator
choosing, many       choices and the bias of a coin · many counts, many repeats
thinning             sampling, and the steps of noisy gradients
curves               all of them by name
drawn, image         the built-in picture, by formulas · a picture from a file
mosaic               people's bits, flipped, zoomed out, unbiased
two_worlds, worlds_page   laws of neighbouring tables and their band · with an ε to drag
pictures             two worlds, beliefs after an answer, the odometer of a budget
picture              a picture as a value: words, a table, a figure that is drawn where it is seen
catalog, section, topics   five lectures, figure by figure
shown, attacked      the pictures beside the figures: promises and curves · quick attacks
document, page       a lecture as one page
"""
