// Plays a reading: one token after another, none left out, at most one in a frame.

export class Player {
  // show(position, glide): draw the state after so many tokens; glide is how far the
  // way to the next one has been gone, from 0 to 1.
  constructor(show) {
    this.show = show;
    this.length = 0;
    this.position = 0;
    this.speed = 4;
    this.isPlaying = false;
    this.isComplete = false;
    this.onChange = () => {};
  }

  play() {
    if (this.isPlaying || !this.length) return;
    if (this.position >= this.length && this.isComplete) this.position = 0;
    this.isPlaying = true;
    this.glide = 0;
    this.before = null;
    this.onChange();
    requestAnimationFrame((time) => this.#frame(time));
  }

  pause() {
    if (!this.isPlaying) return;
    this.isPlaying = false;
    this.onChange();
    this.show(this.position, 0);
  }

  seek(position) {
    this.position = Math.max(0, Math.min(position, this.length));
    this.glide = 0;
    this.show(this.position, 0);
  }

  #frame(time) {
    if (!this.isPlaying) return;
    const passed = this.before === null ? 0 : time - this.before;
    this.before = time;
    this.glide += (passed / 1000) * this.speed;
    if (this.position >= this.length) {
      if (this.isComplete) return this.pause();
      this.glide = 0; // the next tokens are still to come
    } else if (this.glide >= 1) {
      this.position += 1;
      this.glide = Math.min(this.glide - 1, 0.999);
    }
    this.show(this.position, Math.min(this.glide, 1));
    requestAnimationFrame((next) => this.#frame(next));
  }
}
