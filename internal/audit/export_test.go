package audit

// SmallOrder is for the tests outside the package.
var SmallOrder = smallOrder

// CodeNames are the names of a list of the registry, by code.
func CodeNames(list string) [256]string { return registry[list].names }
