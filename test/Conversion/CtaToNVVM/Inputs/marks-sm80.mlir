gpu.module @kernels {
  gpu.func @marks(%n: index, %x: i1) kernel {
    cta.role "all" teams(%w in 1) warps(1) {
      cta.work (%b) in (%n) order(#cta.order<natural>) {
        %flags = vector.broadcast %x : i1 to vector<16xi1>
        cta.mark %flags : vector<16xi1>
      }
      cta.work marked (%b) in (%n) order(#cta.order<natural>) {
      }
    }
    gpu.return
  }
}
