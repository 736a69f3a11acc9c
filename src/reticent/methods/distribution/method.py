class Distribution: pass
