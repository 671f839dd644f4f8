"""What the panel shows: the page of a layer, of many, or of the net, with what stands around it."""
