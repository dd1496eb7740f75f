// How far a wheel goes, and in which steps it makes the pictures of a grid larger and smaller.

/** How far a wheel goes for a step, CSS pixels, and after how long a rest it begins anew, milliseconds. */
const stepWay = 40;
const restTime = 200;

/**
 * How far a wheel went, CSS pixels.
 * @param {WheelEvent} event
 */
export const pixelsOf = (event) => event.deltaMode === 0 ? event.deltaY : event.deltaY * 33;

/**
 * Steps of a wheel: one for each notch of a mouse's, and one for some way of two fingers on a touchpad, which browsers
 * report as many small turns of a wheel with Ctrl.
 */
export class WheelSteps {
  way = 0;
  time = -Infinity;

  /**
   * Takes a turn of the wheel.
   * @param {WheelEvent} event
   * @returns {number} the step that it completes: 1 or -1, or else 0
   */
  take(event) {
    const pixels = pixelsOf(event);
    const isNew = event.timeStamp - this.time > restTime || pixels * this.way < 0;
    this.time = event.timeStamp;
    this.way = (isNew ? 0 : this.way) + pixels;
    if (Math.abs(this.way) < stepWay) return 0;
    const step = Math.sign(this.way);
    this.way = 0;
    return step;
  }
}
