// What the explorer uses of d3; the bundle has nothing else.
export {bisectCenter, extent} from "d3-array";
export {axisBottom, axisLeft} from "d3-axis";
export {contours} from "d3-contour";
export {scaleLinear} from "d3-scale";
export {select} from "d3-selection";
export {area, line} from "d3-shape";
